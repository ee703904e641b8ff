# `make demo` and `make test` need git, make and Python 3.11 or later, and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint types campaign bench docs lock wheel clean

demo: $(READY)
	$(BIN)/ordercast quickstart

test: $(READY)
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

# The long form of the random campaigns: a thousand fault schedules for every protocol.
campaign: $(READY)
	$(BIN)/python -m pytest -m campaign

# What is measured, side by side with what it is compared to; docs/performance.md has the figures.
bench: $(READY)
	$(BIN)/python benchmarks/simulator.py
	$(BIN)/python benchmarks/pipeline.py
	$(BIN)/python benchmarks/live.py

# The pages that are made from the code.
docs: $(READY)
	$(BIN)/python docs/make.py

wheel: $(READY)
	$(BIN)/python -m hatchling build -t wheel

# The locked dependencies, hash by hash, then the project itself; made again when the lock or pyproject.toml changes.
$(READY): requirements/all.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Ordercast needs Python 3.11 or later; try make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/all.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# Resolves the lock again after a change of pyproject.toml (needs uv).
lock:
	uv pip compile pyproject.toml --extra spark --extra report --group dev --group bench --universal \
	  --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate -o requirements/all.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist out
