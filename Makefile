# `make` lists the targets. Each one sets up the virtual environment it needs and is quick when nothing changed.
PYTHON ?= python3
VENV := .venv
TORCH_VENV := .venv-torch
BIN := $(VENV)/bin
# With pyiqa at hand, once `make test-torch` has set it up, its metrics stand beside ours.
BENCH_PYTHON = $(if $(wildcard $(TORCH_VENV)/.ready),$(TORCH_VENV)/bin/python,$(BIN)/python)
# One thread per process keeps figures comparable and tests from fighting over cores.
export OMP_NUM_THREADS ?= 1

# Tests of one file stay together, so that they share its service or browser.
TEST_PROCESSES ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test test-torch lint chaos mutate audit check docs bench field

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/.product: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.ready: pyproject.toml constraints.txt requirements-nodeps.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-nodeps.txt
	touch $@ $(VENV)/.product

$(TORCH_VENV)/.ready: pyproject.toml constraints.txt requirements-torch.txt requirements-torch-nodeps.txt
	test -x $(TORCH_VENV)/bin/python || $(PYTHON) -m venv $(TORCH_VENV)
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-torch.txt -e '.[dev]'
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-torch-nodeps.txt
	touch $@

demo: $(VENV)/.product ## Assess example images with the embedded backend and render a report
	$(BIN)/python examples/demo.py

test: $(VENV)/.ready ## Run every test that does not need torch
	# The commands that tests start find the modules compiled, also where the environment forbids to write bytecode.
	$(BIN)/python -m compileall -q src
	CHROMIUM="$$($(BIN)/python scripts/find_chromium.py)" $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile

test-torch: $(TORCH_VENV)/.ready ## Run the tests that need torch, transformers or pyiqa
	$(TORCH_VENV)/bin/python -m pytest tests/torch --override-ini 'addopts=-q --strict-markers --strict-config'

lint: $(VENV)/.ready ## Check style, types, the direction of imports and the size of things
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy src tests benchmarks
	$(BIN)/lint-imports
	$(BIN)/python scripts/shape.py

chaos: $(VENV)/.ready ## Try to break it: faults on the wire, kills, full disks, soak
	$(BIN)/python -m tests.chaos

mutate: $(VENV)/.ready ## Change each rule three ways; every change must fail a test
	$(BIN)/python scripts/mutate.py

audit: $(VENV)/.ready ## Ask the vulnerability database about the pinned versions
	$(BIN)/python scripts/audit.py

check: lint test ## What every change must pass: lint and test

docs: $(VENV)/.ready ## Build the documentation to site/, warnings are errors
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.ready ## Measure side by side with peers; DATA=DIR adds accuracy
	$(BENCH_PYTHON) -m benchmarks $(if $(DATA),--data $(DATA))

field: $(VENV)/.ready ## The ledger on rated pictures: DATA="DIR DIR", HALF=check FOR="what for"
	$(BIN)/python -m benchmarks.field $(or $(HALF),decide) --data $(DATA) $(if $(FOR),--for "$(FOR)")
