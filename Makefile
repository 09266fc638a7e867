# The commands of this project, each from a fresh checkout: everything is set up in .venv and build/.
# Thin on purpose: CMake knows how to build, pyproject.toml what to install.
# SPDX-License-Identifier: Apache-2.0
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD := build/venv
STAMPS := $(VENV)/.stamps
# Many tests wait for a command or another process, so one more than there are cores.
WORKERS := $(shell expr $$(nproc) + 1)
# PYTEST_ARGS="-k name" runs some tests, one after the other.
PYTEST_ARGS ?= -n $(WORKERS) --dist worksteal
# quick: some of the tests; pairs: all, with every pair of parameters' values or some; full: all cases. docs/testing.md
DEPTH ?= quick
# Of the rooms whose tests are about memory, on the simulated device: pairs, or full.
MEMORY_DEPTH ?= pairs
# Of `make test-device`: in the form of ONEAPI_DEVICE_SELECTOR, backend:number or backend:type.
DEVICE ?= *:*
# Warnings as errors, in CI.
USMX_WERROR ?= OFF
# ON where nothing was compiled before: CMakeLists.txt decides by whether ccache is there.
USMX_PRECOMPILE_HEADERS ?=
# ON in CI: built sooner, and a few per cent slower in small calls. docs/decisions/0032-unity-builds.md
USMX_UNITY_BUILD ?= OFF
SOURCES := $(shell find include src kernels cmake python CMakeLists.txt pyproject.toml README.md tools/make_*.py \
             tools/stub_patterns.txt \
             -type f -not -name '*.pyc' 2>/dev/null)
# One build folder serves the package, the wheel and the C++ tests, so each file is compiled once.
PIP_WHEEL := $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation \
               -Cbuild-dir=$(BUILD) -Ccmake.define.USMX_BUILD_TESTS=ON -Ccmake.define.USMX_WERROR=$(USMX_WERROR) \
               -Ccmake.define.USMX_UNITY_BUILD=$(USMX_UNITY_BUILD) \
               $(addprefix -Ccmake.define.USMX_PRECOMPILE_HEADERS=,$(USMX_PRECOMPILE_HEADERS))

CLANGXX ?= $(firstword $(foreach c,clang++ clang++-19 clang++-16 clang++-14,$(shell command -v $c)) clang++)
FUZZ_SECONDS ?= 20
# Tests in C++ and fuzzers use one core each.
JOBS := $(shell nproc)
# Starts a command in one of the environments that docs/testing.md describes.
LAB := $(BIN)/python tests/lab/lab.py
# Where kernels are compiled, libsycl-jit frees with another allocator's function than it allocates,
# and the driver replaces a thread's signal stack, which ASan would unmap in place of its own.
ASAN_OPTIONS := alloc_dealloc_mismatch=0:use_sigaltstack=0:detect_stack_use_after_return=1
# The CPU device's own kernels copy by calling memcpy from code that belongs to no library and so
# cannot be named in a suppression.
TSAN_OPTIONS := ignore_interceptors_accesses=1

# Tools of this environment before those of the system; nothing of ours reaches into others.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV
# A checkout elsewhere finds what ccache kept of this one: paths below the checkout count as relative.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMPS)/usmx $(STAMPS)/demo ## build, then compute on real data that several libraries share
	$(BIN)/python examples/terrain/terrain.py

test: ## some tests of each file: minutes
test-pairs: DEPTH = pairs
test-pairs: ## all tests, with every pair of parameters' values, or some cases where they compile kernels: what CI runs
test-all: DEPTH = full
test-all: ## all cases of all tests
# The programs of the tests are compiled while pip installs what the tests compare with.
test test-pairs test-all: $(STAMPS)/usmx
	+@$(MAKE) --no-print-directory -j2 test-programs $(STAMPS)/test
	+@$(MAKE) --no-print-directory DEPTH=$(DEPTH) test-cpp test-python

# Ninja counts cores itself; of make's jobs it would say that it cannot use them.
test-programs: $(STAMPS)/usmx
	MAKEFLAGS= cmake --build $(BUILD) --target tests/all

test-cpp: test-programs ## the C++ tests
	USMX_TEST_DEPTH=$(DEPTH) ctest --test-dir $(BUILD) -j$(WORKERS) --output-on-failure --no-tests=error

test-python: $(STAMPS)/usmx $(STAMPS)/test ## the Python tests; PYTEST_ARGS="-k name" for some, DEPTH=full for all cases
	cmake --build $(BUILD) --target tests/lab/all
	USMX_WHEEL=$$(echo build/wheel/*.whl) $(BIN)/python -m pytest --depth=$(DEPTH) $(PYTEST_ARGS)

test-simdisc: test-programs ## the C++ tests on a simulated discrete device
	USMX_SIMULATED_DEVICE=strict $(LAB) simulated \
	  ctest --test-dir $(BUILD) -j$(JOBS) --output-on-failure --no-tests=error -LE no_device

# What the device can see is in these rooms: more cases.
test-simdisc-python: $(STAMPS)/usmx $(STAMPS)/test ## the Python tests on it
	cmake --build $(BUILD) --target tests/lab/all
	USMX_ONEMKL=0 $(LAB) simulated python -m pytest -p on_simulated_device tests/python --depth=$(DEPTH) \
	  $(foreach room,memory transfer,--$(MEMORY_DEPTH)-in tests/python/$(room)) $(PYTEST_ARGS)

test-device: $(STAMPS)/usmx $(STAMPS)/test ## the Python tests on the device DEVICE=cuda:0, as the SYCL runtime names it
	cmake --build $(BUILD) --target tests/lab/all
	PYTHONPATH=tests/lab ONEAPI_DEVICE_SELECTOR='$(DEVICE)' $(BIN)/python -m pytest -p on_device tests/python --depth=$(DEPTH) --timeout 300 $(PYTEST_ARGS)

test-asan: $(STAMPS)/build $(STAMPS)/driver ## the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
	cmake --preset asan
	cmake --build --preset asan --target tests/all
	ASAN_OPTIONS=$(ASAN_OPTIONS) UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lab/suppressions/leaks.txt:print_suppressions=0 \
	  ctest --preset asan -j$(JOBS) --no-tests=error $(CTEST_ARGS)

test-asan-python: $(STAMPS)/usmx $(STAMPS)/test ## the Python tests with a module built the same way
	cmake --preset asan
	cmake --build --preset asan
	PYTHONPATH=$(CURDIR)/build/asan/python $(LAB) sanitized python -m pytest -p on_sanitizers tests/python --depth=$(DEPTH) $(PYTEST_ARGS)

test-tsan: $(STAMPS)/build $(STAMPS)/driver ## the C++ tests under ThreadSanitizer
	cmake --preset tsan
	cmake --build --preset tsan --target tests/all
	TSAN_OPTIONS=$(TSAN_OPTIONS):suppressions=$(CURDIR)/tests/lab/suppressions/threads.txt:halt_on_error=1 \
	  ctest --preset tsan -j$(JOBS) --no-tests=error $(CTEST_ARGS)

test-recipes: $(STAMPS)/usmx $(STAMPS)/test ## the diffs of docs/extending.md, also those that need a build of the library
	USMX_BUILD_RECIPES=1 $(BIN)/python -m pytest tests/tools/test_recipes.py

test-interop: $(STAMPS)/usmx build/interop/.stamp ## memory shared with other libraries, and their own tests on arrays of usmx
	build/interop/bin/python -m pip install --quiet --no-deps --force-reinstall build/wheel/*.whl
	build/interop/bin/python -m pytest tests/interop $(PYTEST_ARGS)

bench: $(STAMPS)/usmx $(STAMPS)/test ## what each task costs, beside those who do the same; BENCH_ARGS="--json"
	cmake --build $(BUILD) --target bench_pool bench_replay exchange_calls
	$(BIN)/python bench --programs $(BUILD)/bench $(BENCH_ARGS)

benchmark-page: $(STAMPS)/usmx $(STAMPS)/test ## measures, and writes docs/benchmarks.md: on a quiet machine
	cmake --build $(BUILD) --target bench_pool bench_replay exchange_calls
	$(BIN)/python bench --programs $(BUILD)/bench --json > docs/benchmarks.json
	$(BIN)/python tools/benchmark_page.py docs/benchmarks.json

numba-dpex: | $(STAMPS)/python ## numba-dpex in an environment of its own, for `make bench` to compare with
	$(PYTHON) -m venv build/numba-dpex
	build/numba-dpex/bin/python -m pip install --quiet numba-dpex==0.23.0 numba==0.59.1 'numpy<2' \
	  dpctl==0.17.0 dpnp==0.15.0 intel-opencl-rt==2024.2.* intel-sycl-rt==2024.2.* dpcpp-cpp-rt==2024.2.*

fuzz: $(STAMPS)/build ## each fuzzer for FUZZ_SECONDS=20; needs clang and its libFuzzer
	cmake -G Ninja -S tests/fuzz -B build/fuzz -DCMAKE_CXX_COMPILER=$(CLANGXX) -DPython_EXECUTABLE=$(abspath $(BIN))/python
	cmake --build build/fuzz
	find build/fuzz -maxdepth 1 -name 'fuzz_*' -type f -executable -print0 | \
	  xargs -0 -r -n 1 -P $(JOBS) sh -c 'said=$$("$$0" -max_total_time=$(FUZZ_SECONDS) \
	    -print_final_stats=1 -artifact_prefix=build/fuzz/ -verbosity=0 2>&1); code=$$?; \
	    printf "%s\n%s\n" "$$0" "$$said"; exit $$code'

lint: $(STAMPS)/lint $(STAMPS)/usmx ## formatting, types, layers, imports, words
	git ls-files '*.cpp' '*.hpp' '*.h' | xargs -r clang-format --dry-run --Werror
	ruff check .
	ruff format --check .
	MYPYPATH=$(BUILD)/python mypy
	basedpyright --verifytypes usmx --ignoreexternal
	$(BIN)/python tools/check_layers.py
	$(BIN)/python tools/check_imports.py $(BUILD)/python/usmx
	$(BIN)/python tools/check_words.py

# Most of both is work of one core; what they need is installed one after the other.
lint-and-docs: $(STAMPS)/usmx ## both at once
	+@$(MAKE) --no-print-directory $(STAMPS)/lint
	+@$(MAKE) --no-print-directory $(STAMPS)/docs
	+@$(MAKE) --no-print-directory -j2 --output-sync=target lint docs

tables: $(STAMPS)/python ## the tables of operations in the documentation
	$(BIN)/python tools/make_tables.py docs --write

notices: $(STAMPS)/python ## THIRD-PARTY-NOTICES.txt, from licenses/components.toml
	$(BIN)/python tools/components.py notices

docs: $(STAMPS)/usmx $(STAMPS)/docs ## the site, in build/docs; a warning or a dead link is an error
	$(BIN)/python tools/make_site.py build/site
	$(BIN)/python -m sphinx -q -W --keep-going -j $(JOBS) -c docs build/site/source build/docs

format: $(STAMPS)/lint ## rewrite the sources as `make lint` wants them
	git ls-files '*.cpp' '*.hpp' '*.h' | xargs -r clang-format -i
	ruff check --fix .
	ruff format .

wheel: $(STAMPS)/usmx ## a wheel in dist/, proved by the demo in an empty environment
	rm -rf dist && mkdir dist && cp build/wheel/*.whl dist/
	$(BIN)/python tools/tag_wheel.py dist/*.whl
	tools/try_wheel dist/*.whl

wheels: ## a wheel for each CPython that is here, in dist/, each proved in an empty environment; PYTHONS="python3.12" for some
	tools/make_wheels dist $(PYTHONS)

release: ## the tag of the version that `tools/release.py prepare` wrote, with its notes
	$(PYTHON) tools/release.py tag

clean: ## remove what was built, keep .venv
	rm -rf build dist $(STAMPS)/usmx

# --- set-up ---------------------------------------------------------------------------------------

# Says what is missing, and the command that installs it, before pip or CMake fail half-way.
$(STAMPS)/python:
	@$(PYTHON) tools/check_machine.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build $(STAMPS)/driver $(STAMPS)/demo $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/docs: $(STAMPS)/%: pyproject.toml | $(STAMPS)/python
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@

# Thirty libraries and what they need, several GB: not for each environment.
build/interop/.stamp: pyproject.toml
	@$(PYTHON) tools/check_machine.py
	$(PYTHON) -m venv build/interop
	build/interop/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	build/interop/bin/python -m pip install --quiet --group interop 'intel-sycl-rt>=2026.0,<2027' intel-opencl-rt rich
	@touch $@

# What everybody tests is the wheel, installed as users install it.
$(STAMPS)/usmx: $(SOURCES) | $(STAMPS)/build
	rm -rf build/wheel
	$(PIP_WHEEL) -w build/wheel .
	$(BIN)/python -m pip install --quiet --no-deps --force-reinstall build/wheel/*.whl
	$(BIN)/python -m pip install --quiet usmx
	@touch $@

.PHONY: help lint-and-docs demo test test-pairs test-all test-programs test-cpp test-python test-simdisc test-simdisc-python test-device test-asan test-asan-python test-tsan test-recipes test-interop bench benchmark-page numba-dpex fuzz tables notices docs lint format wheel wheels release clean
