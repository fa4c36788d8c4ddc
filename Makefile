# Everything runs in .venv, which any of the targets makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests start many processes, of which each would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test lint docs site clean

demo: $(VENV)/installed-plot
	$(BIN)/skfilterrank demo --plot skfilterrank-demo.png

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -n auto --durations=25 --durations-min=2

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -n auto --doctest-modules skfilterrank
	# The page on measures of one's own is run by a test, in a copy of the package.
	$(BIN)/python -m pytest -q -n auto --doctest-glob='*.md' --ignore=docs/adding_a_measure.md docs

site: $(VENV)/installed-site
	$(BIN)/python -m sphinx -b html -W --keep-going -q -j 2 docs docs/_build/html

$(VENV)/installed-%: pyproject.toml | $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

$(VENV):
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

clean:
	rm -rf $(VENV) skfilterrank-demo.png docs/_build docs/api docs/benchmarks docs/citing docs/gallery docs/measures
