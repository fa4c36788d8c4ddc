# Everything runs in .venv, which any of the targets makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests start many processes, of which each would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=
# Processes run side by side, and threads that wait for each other take processor time.
export OMP_NUM_THREADS ?= 1

# Extras of the package that each group of pyproject.toml is installed with.
EXTRAS_test := all
EXTRAS_dev := all
EXTRAS_nightly := all,rag,recipes
EXTRAS_site := plot
EXTRAS_benchmarks := all
EXTRAS_pytest := plot,parquet,zstd,excel,report,xgboost,catboost
OLDEST_GROUP ?= pytest
# What runs on the oldest packages: where those that we build on differ from version to version.
OLDEST_TESTS ?= -m 'not slow and not nightly' tests/whole_package/test_oldest.py \
	tests/whole_package/test_estimators.py \
	tests/whole_package/test_estimator_contract.py \
	tests/ranking/test_list_features.py tests/ranking/test_table_features.py \
	tests/ranking/test_text_features.py tests/plot tests/datasets \
	tests/io tests/files tests/metrics/test_scorer.py tests/metrics/test_like.py \
	tests/ranking/test_held_out_sets_stopping.py tests/ranking/test_estimator_kinds.py \
	tests/estimators/test_response_library_forms.py

.PHONY: demo test check check-tests nightly style types test-oldest oldest-packages test-oldest-all test-newest lint docs site bench-quick benchmarks dist clean

demo: $(VENV)/installed-plot
	$(BIN)/skfilterrank demo

# pytest's options, and where it looks: `make test TESTS=tests/io TEST_OPTIONS=-x`.
TESTS ?= tests
TEST_OPTIONS ?=
PYTEST = $(BIN)/python -m pytest -q -n auto --dist worksteal

test: $(VENV)/installed-dev
	$(PYTEST) $(TEST_OPTIONS) $(TESTS)

# What to run while working: style, types, and the tests that are not marked slow, side by side.
check: $(VENV)/installed-dev
	@$(MAKE) --no-print-directory -j 3 --output-sync=target style types check-tests

check-tests:
	$(PYTEST) -m 'not slow and not nightly' $(TEST_OPTIONS) $(TESTS)

# Everything, with other examples of hypothesis in each run; what few have is installed for it.
nightly: $(VENV)/installed-nightly
	HYPOTHESIS_PROFILE=nightly $(PYTEST) -m '' --timeout 3600 $(TEST_OPTIONS) $(TESTS)

# The oldest packages that pyproject.toml admits, in an environment of its own.
test-oldest oldest-packages: export PIP_CONSTRAINT := $(CURDIR)/.ci/oldest.txt
test-oldest: oldest-packages
	.venv-oldest/bin/python -m pytest -q -n auto --dist worksteal $(OLDEST_TESTS)

oldest-packages:
	$(MAKE) --no-print-directory VENV=.venv-oldest .venv-oldest/installed-$(OLDEST_GROUP)

# The whole suite on them, a quarter of an hour.
test-oldest-all:
	$(MAKE) test-oldest OLDEST_GROUP=test OLDEST_TESTS=tests

# The whole suite on the newest of all, what is not released yet included.
test-newest: export PIP_PRE := 1
test-newest: export PIP_UPGRADE := 1
test-newest:
	$(MAKE) --no-print-directory VENV=.venv-newest .venv-newest/installed-test
	.venv-newest/bin/python -m pytest -q -n auto --dist worksteal

lint: style types

style: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

docs: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -n auto --doctest-modules skfilterrank
	# The page on measures of one's own is run by a test, in a copy of the package.
	$(BIN)/python -m pytest -q -n auto --doctest-glob='*.md' --ignore=docs/adding_a_measure.md docs

# For a release: five ratios, against the committed ones.
bench-quick: $(VENV)/installed-dev
	$(BIN)/python benchmarks/maintainers/quick.py

# Every figure anew, two scripts at a time: `make benchmarks BENCHMARK_OPTIONS='--only speed --quick'`.
benchmarks: $(VENV)/installed-benchmarks
	$(BIN)/python benchmarks/run_all.py $(BENCHMARK_OPTIONS)

# Wheel and sdist, and the demo from the wheel where there is nothing but what it depends on.
dist: $(VENV)/installed-dev
	rm -rf dist .venv-wheel
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet dist/*.whl
	.venv-wheel/bin/python -m pip check
	cd dist && ../.venv-wheel/bin/skfilterrank demo --n-queries 200

# Anew each time (-E): the index of words of pages that did not change would be lost.
site: $(VENV)/installed-site
	$(BIN)/python -m sphinx -E -b html -W --keep-going -q -j 2 docs docs/_build/html

$(VENV)/installed-%: pyproject.toml $(PIP_CONSTRAINT) | $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[$(or $(EXTRAS_$*),$*)]' \
		$(if $(EXTRAS_$*),--group $*)
	touch $@

$(VENV):
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

clean:
	rm -rf $(VENV) .venv-oldest .venv-newest .venv-wheel dist
	rm -rf docs/_build docs/api docs/benchmarks docs/citing docs/gallery docs/measures
