PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test slow lint format bench clean

help:
	@echo "make demo   set up and study the features of the digits data: which matter, do methods agree, how stable"
	@echo "make test   set up and run all tests"
	@echo "make slow   the simulations that take minutes"
	@echo "make lint   style, types, layers"
	@echo "make bench  measure speed, and write the table in README.md"

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(READY)
	$(BIN)/fuji study digits --out out/digits
	@echo
	@echo "Tables, pictures and a summary are in out/digits; start with out/digits/summary.md."
	@echo "Then try: $(BIN)/fuji compare examples/model_a.csv examples/model_b.csv"

test: $(READY)
	$(BIN)/python -m pytest -n 2 -m 'not slow'

slow: $(READY)
	$(BIN)/python -m pytest -n 2 -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
