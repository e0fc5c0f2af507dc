# What a person or CI asks of the project. `make help` lists it; tools/ and CMakePresets.json do the work.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# A compiler of this code takes up to 2 GiB, so memory bounds the jobs where there is little of it.
ifndef JOBS
JOBS := $(shell awk -v cpus="$$(nproc)" '/^MemTotal/ { n = int($$2 / 2097152); print n < 1 ? 1 : n < cpus ? n : cpus }' /proc/meminfo)
endif
BENCHES ?= read commit open publish reclaim
FUZZ_SECONDS ?= 60

# Two clones in two folders share what ccache holds.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CCACHE_SLOPPINESS := time_macros,include_file_mtime,include_file_ctime
export ASAN_SYMBOLIZER_PATH ?= /usr/lib/llvm-19/bin/llvm-symbolizer
export TSAN_OPTIONS ?= external_symbolizer_path=$(ASAN_SYMBOLIZER_PATH)
export STAGE_TIMES ?= build/stage-times.txt
export JOBS

configure_and_build = cmake --preset $(1) $(if $(VERBOSE),,>/dev/null) && cmake --build build/$(1) --parallel $(JOBS)
stage = tools/stage.sh

.PHONY: help build demo python pythons test lint format sanitize model sim-forever fuzz clean
.PHONY: plots bench bench-cloud bench-loader setup-build setup-check

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /  make \1  /p' Makefile | awk '{ t = $$2; $$1 = $$2 = ""; printf "  make %-12s%s\n", t, $$0 }'

setup-build:
	@tools/setup.sh build

setup-check:
	@tools/setup.sh build check

build: setup-build  ## build/release/: batchweave, bw_bench, bw_sim, the demo and the tests; build/mutant/
	@$(call configure_and_build,release)
	@$(call configure_and_build,mutant)

demo: build  ## the main job on real data, on this machine, with kills and restarts; STORE=s3, minio, gs, az: on such a server
	@$(if $(STORE),tools/setup.sh build check && tools/servers.sh && tools/with_server.sh $(STORE)) examples/demo/run.sh

python: setup-build  ## build/venv/: the Python package and what its tests need; then build/venv/bin/python -m pytest
	@tools/python.sh

pythons: setup-build setup-check  ## the same for each CPython from 3.10 on that is found here, in build/venv-3.N/, with its tests
	@tools/pythons.sh

test: setup-check  ## everything CI runs: release tests, Python, model, lint, sanitizers, a short fuzz
	@tools/test.sh

lint: setup-check  ## formatting, tools/tidy.py, clang's warnings, clang-tidy, ruff, shellcheck
	@tools/lint.sh

format: setup-check  ## rewrite the sources as .clang-format and pyproject.toml say
	@tools/sources.sh | xargs --no-run-if-empty clang-format-19 -i
	@tools/venv.sh && build/venv/bin/ruff format --quiet

sanitize: setup-check  ## all tests under ASan and UBSan, the concurrency tests under TSan
	@$(call configure_and_build,asan) && ctest --preset asan --parallel $(JOBS)
	@$(call configure_and_build,tsan) && ctest --preset tsan --parallel $(JOBS)

model: setup-check  ## every order of events at small sizes: model/README.md
	@model/run.py

sim-forever: build  ## the simulator on fresh seeds until one breaks something
	@while build/release/bw_sim --fresh --seeds 1000; do :; done

plots: build  ## docs/images/scale-*.svg, from a quick run of the laboratory
	@tools/plots.sh

fuzz: setup-check  ## each fuzz target for FUZZ_SECONDS (60)
	@$(call configure_and_build,asan) && tools/fuzz.sh $(FUZZ_SECONDS)

bench: build  ## the figures of the README: BENCHES="read commit open publish reclaim", or soak
	@for name in $(BENCHES); do $(stage) "bench $$name" build/release/bw_bench $$name --json || exit 1; done

bench-cloud: build setup-check  ## the same of S3: versitygw on loopback
	@tools/servers.sh && $(stage) "bench cloud" build/release/bw_bench cloud --json

bench-loader: build setup-check  ## the figures of the Python loader beside C++ and other loaders, which it installs
	@tools/python.sh && $(stage) "bench loader" build/venv/bin/python -m batchweave.bench loader --json

clean:  ## remove build/
	rm -rf build
