# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Three targets: run, test, lint. The others are their parts; what is there is not made again.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.PHONY: run test lint cpp-test cpp-lint build/test build/lint
.DELETE_ON_ERROR:

PYTHON ?= python3
BIN := .venv/bin
MPIS := mpich openmpi $(if $(filter x86_64,$(shell uname -m)),intel)
JOBS := $(shell nproc)
CPP := $(shell find kernels -name '*.cpp')
HPP := $(shell find kernels -name '*.hpp')
BENCH := $(shell find bench -name '*.cpp' 2>/dev/null)
TIDY := $(CPP:%.cpp=build/lint/tidy/%.stamp)
CMAKE := cmake --log-level=WARNING $(if $(shell command -v ninja),-G Ninja) -S .
SHELL_FILES := .ci/run $(shell find bench examples tests tools docs -name '*.sh' 2>/dev/null)

run: .venv/.mpi-mpich
	@$(BIN)/mpigauge quick

test: .venv/.dev $(MPIS:%=.venv/.mpi-%)
	@$(MAKE) cpp-test
	@$(BIN)/python -m pytest -rs -n $(JOBS) --maxprocesses 8 tests/unit
	@$(BIN)/python -m pytest -rs --ignore tests/unit

lint: .venv/.dev .venv/.mpi-mpich
	@mkdir -p build
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo 'run: .venv/bin/ruff format .'; exit 1; }
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo >build/lint-imports.log || { cat build/lint-imports.log; exit 1; }
	@$(BIN)/shellcheck $(SHELL_FILES)
	@$(BIN)/python tools/generate.py --check
	@$(BIN)/clang-format --dry-run -Werror $(CPP) $(HPP) $(BENCH)
	@$(MAKE) build/lint
	@$(MAKE) -j$(JOBS) -O cpp-lint
	@echo 'lint: all good'

# --- set-up, each part once ---------------------------------------------------------------
.venv/.installed: pyproject.toml tools/wheel_source.py
	@echo 'mpigauge: setting up .venv'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/.dev: .venv/.installed
	@echo 'mpigauge: installing what tests and lint need'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

.venv/.mpi-%: | .venv/.installed
	@$(BIN)/mpigauge mpi install $*
	@touch $@

# --- C++ tests and clang-tidy -------------------------------------------------------------
MPI_INCLUDE = $$($(BIN)/python -c 'from mpigauge.mpi import find; print(find("mpich").include)')
build/test build/lint:
	@$(CMAKE) -B $@ -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
	  -DMPIGAUGE_TESTS=ON -DMPIGAUGE_WERROR=ON -DMPIGAUGE_ABI=mpich \
	  $(if $(findstring lint,$@),-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON) \
	  -DMPIGAUGE_MPI_INCLUDE="$(MPI_INCLUDE)" >/dev/null

cpp-test: build/test
	@cmake --build build/test --parallel $(JOBS) >build/test.log || { cat build/test.log; exit 1; }
	@ctest --test-dir build/test --output-on-failure --no-tests=error

# The analyzer stops after so many states of a function (its own limit is 225000): to try them all takes
# two to six times as long as everything else together.
ANALYZER := $(foreach word,-Xclang -analyzer-config -Xclang max-nodes=10000,--extra-arg=$(word))
cpp-lint: $(TIDY)

build/lint/tidy/%.stamp: %.cpp $(HPP) .clang-tidy
	@$(BIN)/clang-tidy --quiet --warnings-as-errors='*' -p build/lint \
	  --extra-arg=-Wno-unknown-warning-option $(ANALYZER) $< 2>/dev/null
	@mkdir -p $(@D) && touch $@
