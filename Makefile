# `make demo`, `make test` and `make test-all` need nothing but Python 3.11 or newer, make and a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all bytecode lint types chromium kernels tests tests-all tests-nojit test-versions hostile bench clean

demo: $(VENV)/.core bytecode  ## set everything up and run the sample
	@$(BIN)/namesake demo

test: lint types tests  ## the quick tests, for every change: at most 6 minutes on two cores

test-all: lint types tests-all tests-nojit  ## everything that continuous integration runs: also Spark, browsers, kills

bytecode: $(VENV)/.core  ## compile the Python sources, as pip does for packages that are not editable
	@$(BIN)/python -m compileall -q src

kernels: $(VENV)/.core bytecode  ## compile the kernels on all cores, before several processes of tests do it
	@$(BIN)/namesake compile

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

chromium:  ## a browser for the tests of the page, from the system's packages where we may
	@have() { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null 2>&1; \
	if ! have && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the tests of the page ..."; \
	  apt-get install -y -qq chromium >/dev/null 2>&1 || \
	    { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 || true; \
	fi; \
	have || echo "No Chromium: the tests of the page are skipped. Get one, such as: sudo apt-get install chromium"

tests: $(VENV)/.dev kernels
	$(BIN)/pytest -n auto --dist loadgroup -m "not slow and not hostile"

tests-all: $(VENV)/.dev kernels chromium
	$(BIN)/pytest -n auto --dist loadgroup -m "not hostile" --durations 20

tests-nojit: $(VENV)/.dev  ## the kernels once more as plain Python, so that coverage and bounds errors show
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n auto -m "kernel and not slow and not hostile"

test-versions:  ## Python 3.11 to 3.13, as far as they are here, with the newest and the oldest packages; ends with a table
	$(PYTHON) tests/versions.py

hostile: $(VENV)/.dev  ## damaged KBs, kills, fuzzers: about 45 minutes; ends with a table of counts
	PYTHONPATH=tests $(BIN)/python -m hostile

bench: $(VENV)/.dev  ## the tables of docs/benchmarks.md
	$(BIN)/python -m benchmarks

$(VENV)/.core: pyproject.toml
	@echo "Setting up $(VENV) (a minute or two, once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "namesake needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[web]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.core
	@echo "Installing what the tests need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .pytest_cache .ruff_cache
