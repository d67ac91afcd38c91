PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SITE := .venv-site

# Tests of the kernels on inputs so small that they can run uncompiled, where coverage sees their lines.
KERNEL_TESTS := tests/_kernels/test_kernels.py tests/themes/test_golden.py tests/themes/test_edges.py tests/rankers/test_rankers.py
MEASURED := --cov --cov-report= --cov-fail-under=0

# Libraries whose models are tested in an environment of their own. torch is pinned to a release that pip finds without
# CUDA where such a build is offered; any other will do: make models-test TORCH='torch>=2.2'.
MODELS := .venv-models
TORCH ?= torch==2.13.0
LIBRARIES := "$(TORCH)" "captum>=0.7" "catboost>=1.2.7" "lightgbm>=4.5" "networkx>=3.2" "ranx>=0.3.20" "shap>=0.46" \
	"xgboost-cpu>=2.1"

.PHONY: help demo notebook test browser browser-test models-test slow fuzz coverage lint format bench site clean

help:
	@echo "make demo      set up, then study the digits data: which features matter, do methods agree, how stable"
	@echo "make notebook  run examples/notebook.ipynb and write out/notebook.html"
	@echo "make test      set up, then run all tests but the slow simulations"
	@echo "make browser-test  install Chromium and Playwright if need be, and test reports in the browser"
	@echo "make models-test  test models of XGBoost, LightGBM, CatBoost, SHAP, PyTorch and networkx, in $(MODELS)"
	@echo "make slow      run the simulations that take minutes"
	@echo "make fuzz      try 50,000 mutated files, 20,000 generated tables, hostile arguments and killed commands"
	@echo "make coverage  run all tests and measure coverage; fails below 95 %"
	@echo "make lint      check style, types, import layers and docstrings"
	@echo "make format    fix style where ruff can"
	@echo "make bench     measure speed, check the bounds, write the tables of docs/benchmarks.md"
	@echo "make site      build the documentation into out/site; warnings are errors"
	@echo "make clean     remove the environment and everything generated"

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(READY)
	$(BIN)/fuji study digits --out out/digits
	@echo
	@echo "Tables, pictures and a summary are in out/digits; start with out/digits/summary.md."
	@echo "Then try: $(BIN)/fuji compare examples/model_a.csv examples/model_b.csv"

notebook: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,notebook]'
	$(BIN)/jupyter nbconvert --to html --execute --output-dir out examples/notebook.ipynb

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow' $(if $(COVERAGE),$(MEASURED))

# Playwright drives the system's Chromium; as root on Debian it is installed.
browser: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check playwright
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update --quiet && apt-get install --quiet --yes chromium; \
	else \
		echo "Browser tests need Chromium: install it (Debian: sudo apt-get install chromium)."; exit 1; \
	fi

browser-test: browser
	$(BIN)/python -m pytest -n 2 -m browser tests/browser

# A library that does not install is no failure: its tests are skipped, and pytest prints which.
$(MODELS)/.ready: pyproject.toml Makefile
	test -x $(MODELS)/bin/python || $(PYTHON) -m venv $(MODELS)
	$(MODELS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[ml,frames]' pytest hypothesis
	for library in $(LIBRARIES); do \
		$(MODELS)/bin/python -m pip install --quiet --disable-pip-version-check "$$library" \
			|| echo "$$library does not install here"; \
	done
	touch $@

models-test: $(MODELS)/.ready
	$(MODELS)/bin/python -m pytest -rs tests/inputs/test_models.py

slow: $(READY)
	$(BIN)/python -m pytest -n 2 -m slow

# How much to try, and with which seed: make fuzz FUZZ='--files 1000 --seed 7' KILLS='--kills 20'.
FUZZ ?= --files 50000 --tables 20000 --processes 2000 --resume 1000 --arguments 5000

fuzz: $(READY)
	$(BIN)/python -m fuzz $(FUZZ)
	$(BIN)/python -m fuzz.kills $(KILLS)

# Coverage cannot see into compiled kernels: their tests run a second time, uncompiled.
coverage: $(READY)
	$(BIN)/coverage erase
	$(MAKE) test COVERAGE=1
	FUJISCORE_COMPILE=never $(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow and not published' \
		$(MEASURED) --cov-append $(KERNEL_TESTS)
	$(BIN)/coverage report

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/check_docstrings.py

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python benchmarks/run.py

# The site needs no installed fujiscore: generated pages are in docs/, and tests compare them with the package.
$(SITE)/.ready: docs/requirements.txt
	test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --requirement docs/requirements.txt
	touch $@

site: $(SITE)/.ready
	$(SITE)/bin/zensical build --strict --clean
	$(SITE)/bin/python docs/check_site.py out/site
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict --clean --quiet
	$(SITE)/bin/python docs/check_site.py out/site
	@echo "The documentation is in out/site; start with out/site/index.html."

clean:
	rm -rf $(VENV) $(SITE) $(MODELS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
