# Everyday commands. Each calls a script or a preset (CMakePresets.json), nothing else, so that
# CI, pre-commit and a terminal do the same. `make` alone lists them.
.DEFAULT_GOAL := help
.NOTPARALLEL:

CONFIG ?= configs/train.yaml
ARGS ?=
SECONDS ?= 60

# A tree is configured once; after that CMake itself notices when its files change.
# TRAINER_STRICT=ON in the environment makes warnings errors from the start, as CI does.
# TRAINER_LIBTORCH in the environment (src/find_libtorch.cmake) configures it again when it names another LibTorch.
build/%/build.ninja: CMakePresets.json $(if $(TRAINER_LIBTORCH),build/libtorch_choice)
	cmake --preset $* $(if $(TRAINER_STRICT),-DTRAINER_STRICT=$(TRAINER_STRICT)) $(if $(TRAINER_LIBTORCH),-DTRAINER_LIBTORCH="$(TRAINER_LIBTORCH)")
	@touch $@

build/libtorch_choice: FORCE
	@mkdir -p build
	@echo '$(TRAINER_LIBTORCH)' | cmp -s - $@ || echo '$(TRAINER_LIBTORCH)' >$@

FORCE:

.PHONY: help setup build run test test-machines torture fix format format-check lint typecheck all bench \
        bench-peers bench-tables asan \
        coverage fuzz install package clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install missing tools (build, test, gate) and the hooks of Git
	@scripts/setup.sh
	@scripts/install_hooks.sh

setup-%: # groups of packages, joined by "-": setup-build-test
	@scripts/setup.sh $(subst -, ,$*)

build: setup-build build/release/build.ninja ## Build everything into build/release
	@cmake --build --preset release

run: setup-build build/release/build.ninja ## Train with configs/train.yaml (CONFIG=..., ARGS="--lr 2e-3")
	@cmake --build --preset program
	build/release/bin/trainer --config $(CONFIG) $(ARGS)
	@echo "The program is build/release/bin/trainer. Next: make install, which puts trainer on your PATH;"
	@echo "then, for a table of your own: trainer init --data table.csv"

test: setup-build-test build ## Build and run all tests
	@scripts/run_tests.sh release

test-machines: setup-build-test build ## The tests as on other machines: CPUs, load, time zone, ...
	@scripts/test_machines.sh

torture: setup-build-test build ## 500 kills, all failures of files, all states after a power failure
	@scripts/torture.sh

fix: setup-build-gate ## Format, and let clang-tidy correct the C++ files that changed
	@scripts/fix.sh

format: setup-gate ## Format the C++ files with clang-format, the Python files with black
	@scripts/format.sh

format-check: setup-gate ## List files that are not formatted
	@scripts/format.sh --check

lint: setup-build-gate ## Checks of C++, Python and shell; only what changed
	@scripts/lint.sh

typecheck: setup-build-gate ## Compile with strict warnings as errors, with GCC and Clang
	@scripts/typecheck.sh

all: setup format-check lint typecheck test ## The gate: format-check, lint, typecheck, test

bench: setup-build build/release/build.ninja ## Compare the devices of this machine (ARGS=...)
	@cmake --build --preset bench
	build/release/bin/bench_devices $(ARGS)

bench-peers: setup-build build/release/build.ninja ## Compare with PyTorch and others (ARGS=...)
	@cmake --build --preset bench-peers
	bench/peers/compare.py $(ARGS)

bench-tables: setup-build-tables build/release/build.ninja ## Compare errors with gradient boosting (ARGS=...)
	@cmake --build --preset program
	$(TRAINER_PYTHON) bench/tables/compare_tables.py $(ARGS)

asan: setup-build-test build/asan/build.ninja ## All tests under Address- and UBSanitizer
	@cmake --build --preset asan
	@scripts/run_tests.sh asan

coverage: setup ## All tests with line coverage; fails under 80 %
	@scripts/coverage.sh

fuzz: setup-build-fuzz ## Fuzz all that is read, each input for SECONDS=60 (ARGS="csv yaml")
	@scripts/fuzz.sh $(SECONDS) $(ARGS)

install: setup-build build/release/build.ninja ## Install the program: PREFIX=..., else /usr/local or ~/.local
	@cmake --build --preset install
	@scripts/install.sh $(PREFIX)

package: setup-build-package build/release/build.ninja ## Packages of Debian and an archive, into build/packages
	@scripts/package.sh

clean: ## Remove build/
	@rm -rf build
