# Everything runs in .venv, which any of the targets makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests start many processes, of which each would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test thorough check slow-list lint docs bench-quick clean

demo: $(VENV)/installed-plot
	$(BIN)/skfilterrank demo --plot skfilterrank-demo.png

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -n auto --dist worksteal --durations=25 --durations-min=2

# What to run while working: all but the tests marked slow.
check: lint
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m 'not slow'

# The tests that `make check` leaves out are those that took long here; on a quiet machine.
slow-list: $(VENV)/installed-dev
	: > tests/support/slow_tests.txt
	$(BIN)/python -m pytest -q --write-slow tests

# Other examples of hypothesis in each run, and ten times as many: TESTS=tests/io tries some alone.
TESTS ?= tests
thorough: $(VENV)/installed-dev
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -q -n auto --timeout 3600 \
		--dist worksteal -m hypothesis $(TESTS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -n auto --doctest-modules skfilterrank
	# The page on measures of one's own is run by a test, in a copy of the package.
	$(BIN)/python -m pytest -q -n auto --doctest-glob='*.md' --ignore=docs/adding_a_measure.md docs

# For a release: five ratios, against the committed ones.
bench-quick: $(VENV)/installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/quick.py

$(VENV)/installed-%: pyproject.toml | $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

$(VENV):
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

clean:
	rm -rf $(VENV) skfilterrank-demo.png
