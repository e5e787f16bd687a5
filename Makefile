# Everything runs in a virtual environment that the first target makes: only Python ≥ 3.11 and make are needed.
PYTHON ?= python3
JOBS ?= 2
EXAMPLES ?= 10
VENV ?= .venv
BIN := $(VENV)/bin
# The tests start hundreds of processes: each source is compiled once, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-lowest conformance check lint types imports unit lit fuzz stubs reference docs bench sizes format clean

help: ## Print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-11s %s\n' "$$name" "$$text"; done

demo: $(VENV)/.installed ## Compile and run a small ResNet-50, show what each stage did
	@$(BIN)/python -m xrelay.tools.demo

test: $(VENV)/.installed-test ## All checks and tests; the last line sums them up
	@$(BIN)/python tests/run_all.py --jobs $(JOBS)

test-all: $(VENV)/.installed-test ## The same with EXAMPLES times as many random programs, tools started anew, lowest versions, and docs
	@XRELAY_EXAMPLES=$(EXAMPLES) $(BIN)/python tests/run_all.py --jobs $(JOBS) --lit-param tools=scripts
	@$(BIN)/python tests/run_lowest.py --jobs $(JOBS)
	@$(MAKE) --no-print-directory docs

test-lowest: $(BIN)/python ## The unit tests with the lowest versions that pyproject.toml allows
	@$(BIN)/python tests/run_lowest.py --jobs $(JOBS)

conformance: $(VENV)/.installed-test ## How many of onnx's official cases run, by op and tier; SET=tier2, OP=TopK: some; NAMED=1: open extents
	@cd tests && $(abspath $(BIN))/python -W ignore -m onnx_backend.conformance --jobs $(JOBS) $(if $(SET),--set $(SET)) $(if $(OP),--op $(OP)) $(if $(NAMED),--named)

check: lint types imports ## Style, types and import directions

lint: $(VENV)/.installed-test
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

types: $(VENV)/.installed-test
	@$(BIN)/basedpyright --pythonpath $(BIN)/python

imports: $(VENV)/.installed-test
	@$(BIN)/lint-imports --no-cache

unit: $(VENV)/.installed-test ## The Python tests alone
	@$(BIN)/pytest -n $(JOBS) --dist worksteal

lit: $(VENV)/.installed-test ## The text tests alone
	@$(BIN)/lit -j $(JOBS) tests/lit

fuzz: $(VENV)/.installed-test ## Random graphs, damaged models and texts for MINUTES (30); CASE=graphs:17 repeats a finding
	@cd tests && $(abspath $(BIN))/python -m fuzz $(if $(CASE),--case $(CASE),--minutes $(or $(MINUTES),30) --jobs $(JOBS))

stubs: $(VENV)/.installed-test ## Write operators.pyi, the tables of modules, docs/reference and docs/pictures anew from the definitions
	@$(BIN)/python -m xrelay.tools.import_tables
	@$(BIN)/python -m xrelay.tools.operator_stubs
	@$(BIN)/python -m xrelay.tools.reference

reference: $(VENV)/.installed-test ## Write docs/reference and docs/pictures anew from definitions of ops, passes and commands
	@$(BIN)/python -m xrelay.tools.reference

docs: $(VENV)/.installed-docs ## Build the documentation as a site in build/site; fails for a warning or a dead link
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.installed-test ## Kernels against hand-written ones, the thread pool, ops and ResNet-50 against other engines, and the cost of passes
	@$(BIN)/python benchmarks/bench_kernels.py
	@$(BIN)/python benchmarks/bench_threads.py
	@$(BIN)/python benchmarks/bench_ops.py
	@$(BIN)/python benchmarks/bench_ops.py --quantised
	@$(BIN)/python -m xrelay.tools.demo --output build/bench
	@$(BIN)/xrelay bench build/bench/resnet50.onnx --against onnxruntime --threads 1,2
	@$(BIN)/python benchmarks/bench_passes.py

sizes: $(VENV)/.installed-test ## Python tokens and files of each folder; BASE=main: also of a commit
	@cd tests && $(abspath $(BIN))/python -m meta.size_report $(if $(BASE),--base $(BASE))

format: $(VENV)/.installed-test ## Bring the code into the project's format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## Remove what tests and builds left (the virtual environment stays)
	@rm -rf build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "xrelay needs Python 3.11 or newer: make PYTHON=…")'
	@$(PYTHON) -m venv $(VENV)

# Python compiles the modules that are used when they are: most of what the packages bring never is.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[test,check]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[docs]'
	@touch $@
