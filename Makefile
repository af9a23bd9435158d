# CacheRoute
# One place for every task. `make demo` and `make test` install what they need first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
PYTEST := $(BIN)/python -m pytest

.PHONY: help install demo test check format readme bench bench-growth bench-console soak clean

help: ## List the tasks
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

install: $(VENV)/.installed ## Make .venv with CacheRoute and the development tools

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "CacheRoute needs Python 3.11 or newer; $(PYTHON) is older or missing. Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "This Python has no venv module. On Debian or Ubuntu: apt install python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing CacheRoute into $(VENV)"
	@$(PIP) -e .
	@touch $@

$(VENV)/.installed: $(VENV)/.runtime
	@echo "installing the development tools into $(VENV)"
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")' > $(VENV)/dev.txt
	@$(PIP) -r $(VENV)/dev.txt
	@touch $@

demo: $(VENV)/.runtime ## See it work: a Proxy, three Instances and a replayed trace
	@$(BIN)/cacheroute demo

test: install ## Run the tests
	@$(PYTEST)

check: install ## Everything a change must pass: format, lint, types, imports, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy examples/*/*.py
	$(BIN)/lint-imports
	$(PYTEST)

format: install ## Format the code and sort the imports
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

readme: install ## Make the tables of the README anew
	@$(BIN)/python -m tests.architecture.readme --write

bench: install ## Measure the data plane against nginx, or a bare relay where it is missing
	@$(BIN)/python -m tests.bench

bench-growth: install ## Measure what a decision costs as the pool grows
	@$(BIN)/python -m tests.bench growth

bench-console: install ## Measure what the console costs over a thousand Instances
	@$(BIN)/python -m tests.tui.measure

soak: install ## Run the long tests: thousands of aborts, deaths and control calls
	@$(PYTEST) -m soak

clean: ## Remove what was made here
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
