# Short names for what a contributor does every day; `make` lists them.

PYTHON ?= python3
CPP_FILES = $(shell git ls-files --cached --others --exclude-standard 'src/*.h' 'src/*.cpp' 'tests/*.h' 'tests/*.cpp' 'benchmarks/*.h' 'benchmarks/*.cpp' 'examples/*/reader/*.cpp' 'examples/*/src/*.h' 'examples/*/src/*.cpp')
CLANG_FORMAT = $(shell $(PYTHON) -c 'import pathlib, sys; print(pathlib.Path(sys.executable).parent / "clang-format")')
HAND_WRITTEN_PYTHON = codegen src tests benchmarks $(EXAMPLE)/src $(EXAMPLE)/tests
EXAMPLE = examples/own_schema

.DEFAULT_GOAL := help
.PHONY: help develop demo test fuzz fuzz-schemas regen check-generated lint format bench

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

develop: ## Install in place, for editing: Python changes count at once, rerun after C++ changes
	$(PYTHON) -m pip install "scikit-build-core>=0.11" "nanobind>=2.7" "ninja>=1.11" "cmake>=3.22"
	$(PYTHON) -m pip install --no-build-isolation -Ccmake.define.PLACEWIRE_WERROR=ON -e '.[test,dev]'

demo: ## Add a device to the schema and watch everything follow
	$(PYTHON) -m placewire demo

test: ## Run the tests
	$(PYTHON) -m pytest

fuzz: ## Send a million damaged files through everything, under sanitizers (takes half an hour)
	$(PYTHON) -m tests.fuzz.sanitized $(COUNT)

fuzz-schemas: ## Fuzz the generated C++ of many schemas with libFuzzer (needs clang; an hour)
	$(PYTHON) -m tests.fuzz.fuzz_schemas $(COUNT)

regen: ## Generate everything from schema/, and the example from its own
	$(PYTHON) -m placewire_codegen
	$(PYTHON) -m placewire_codegen --project $(EXAMPLE)

check-generated: ## Fail if a generated file is not what schema/ and templates/ give
	$(PYTHON) -m placewire_codegen --check
	$(PYTHON) -m placewire_codegen --project $(EXAMPLE) --check

lint: ## Check style and types of everything
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check $(HAND_WRITTEN_PYTHON)
	$(PYTHON) -m mypy
	@test -n "$(CPP_FILES)" || { echo "no C++ files found to check"; exit 1; }
	$(CLANG_FORMAT) --dry-run -Werror $(CPP_FILES)

format: ## Lay out hand-written Python and C++
	$(PYTHON) -m ruff check --fix
	$(PYTHON) -m ruff format $(HAND_WRITTEN_PYTHON)
	@test -n "$(CPP_FILES)" || { echo "no C++ files found to format"; exit 1; }
	$(CLANG_FORMAT) -i $(CPP_FILES)

bench: ## Measure against the peers (needs '.[peer]'; takes minutes)
	$(PYTHON) -m benchmarks
