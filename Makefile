# One place for every task. `make demo` and `make test` install what they need first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEV    := hypothesis import-linter mypy openai "pytest<9" pytest-asyncio ruff types-psutil

.PHONY: install demo test check format bench soak clean

install: $(VENV)/.installed

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "CacheRoute needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "This Python has no venv module. On Debian or Ubuntu: apt install python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing CacheRoute into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.installed: $(VENV)/.runtime
	@echo "installing the development tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(DEV)
	@touch $@

demo: $(VENV)/.runtime
	@$(BIN)/cacheroute demo

test: install
	@$(BIN)/python -m pytest

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install
	@$(BIN)/python -m tests.bench

soak: install
	@$(BIN)/python -m pytest -m soak --override-ini addopts="--import-mode=importlib --strict-markers -q"

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
