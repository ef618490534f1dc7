# Everything the project does from a shell. `make help` lists it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format lint imports types live soak bench pictures lock clean

help:  ## Print every target
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready  ## Make .venv with the command at .venv/bin/global-chat

demo: setup  ## Run a misrouted turn, scripted, and an offline one: no key and no network needed
	$(BIN)/global-chat run --input payloads/emoji-banners.json \
	  --script payloads/emoji-banners.script.yaml --output-dir tmp
	@echo
	$(BIN)/global-chat run --input payloads/page-size.json --backend offline --output-dir tmp

test: $(VENV)/.ready-dev  ## Run the unit and service tests
	$(BIN)/python -m pytest -q -n 2

check: format lint imports types test  ## The whole gate; what CI runs

format: $(VENV)/.ready-dev  ## Say whether the code is formatted
	$(BIN)/ruff format --check --quiet .

lint: $(VENV)/.ready-dev  ## Lint the code
	$(BIN)/ruff check --quiet .

imports: $(VENV)/.ready-dev  ## Check that rooms import downward only
	$(BIN)/lint-imports --no-cache

types: $(VENV)/.ready-dev  ## Check types, strictly
	$(BIN)/mypy

live: $(VENV)/.ready-dev  ## Run the live tests; they skip without ANTHROPIC_API_KEY
	$(BIN)/python -m pytest -q -m 'integration or acceptance'

soak: $(VENV)/.ready-dev  ## Damage inputs and a server's answers in 10,000 ways; half an hour
	GLOBAL_CHAT_SOAK=10000 $(BIN)/python -m pytest -q tests/service/test_mutations.py \
	  tests/service/test_wire_fuzz.py

bench: $(VENV)/.ready-dev  ## Print the figures of benchmarks/
	for script in benchmarks/*.py; do \
	  $(BIN)/python -m benchmarks.$$(basename $$script .py) || exit 1; done

pictures: $(VENV)/.ready-dev  ## Draw the pictures of the README anew
	$(BIN)/python -m pictures

lock: ## Choose versions anew and write constraints.txt
	rm -rf $(VENV)/lock && $(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/pip install --quiet --upgrade pip
	$(VENV)/lock/bin/pip install --quiet -e '.[telemetry]' --group dev
	$(VENV)/lock/bin/pip freeze --all --exclude-editable --exclude setuptools > constraints.txt

clean:  ## Remove what setup, tests and runs have made
	rm -rf $(VENV) tmp .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Only the runtime dependencies, so that a first look is quick.
$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "global-chat needs Python 3.11 or newer; set PYTHON=python3.12, say."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(PIP) -e .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	$(PIP) -e . --group dev
	@touch $@
