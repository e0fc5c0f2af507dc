#!/bin/bash
# Everything that must pass before a change is sent: what `make test` runs, cheapest news first.
set -euo pipefail
cd "$(dirname "$0")/.."

short_fuzz_seconds=10 # a target
export FUZZ_SEED=1    # a run that must give the same answer twice; `make fuzz` draws its own

build() {
  cmake --preset "$1" >/dev/null && cmake --build "build/$1" --parallel "$JOBS"
}

# In CI the times of earlier stages are in this file too, and .ci/run prints it.
: "${JOBS:=$(nproc)}"
export STAGE_TIMES=${STAGE_TIMES:-build/stage-times.txt}
if [[ -z "${KEEP_STAGE_TIMES:-}" ]]; then
  rm -f "$STAGE_TIMES"
  trap 'printf "\n=== times\n"; cat "$STAGE_TIMES"' EXIT
fi

export JOBS
export -f build
tools/stage.sh "tidy" python3 tools/tidy.py
tools/stage.sh "release build" bash -c "build release"
tools/stage.sh "mutants' build" bash -c "build mutant"
tools/stage.sh "no mutants" tools/no_mutants.sh build/release/batchweave build/release/bw_bench build/release/bw_sim \
  --mutant build/mutant/batchweave build/mutant/bw_sim
tools/stage.sh "fault points" ctest --preset mutant
tools/stage.sh "servers" tools/servers.sh
tools/stage.sh "release tests" ctest --preset release --parallel "$JOBS"
tools/stage.sh "python build" tools/python.sh
tools/stage.sh "demo data" examples/demo/fetch.sh build/demo
tools/stage.sh "python tests" timeout 1800 build/venv/bin/python -m pytest --quiet
tools/stage.sh "simulator" build/release/bw_sim --seeds 300 --fresh --json
tools/stage.sh "mutations" build/release/bw_sim --mutations --json
tools/stage.sh "laboratory" build/release/bw_sim scale --producers 1,4,16,64 --policies default,fair \
  --trouble none,restarts,misfits
tools/stage.sh "model" model/run.py --short
tools/stage.sh "soak" bash -c 'build/release/bw_bench soak --minutes 1 --json | tee >(cat >&2) |
  grep --quiet "\"leaked_bytes\":0,\"violations\":0}"'
tools/stage.sh "lint, with clang's build" tools/lint.sh
tools/stage.sh "asan tests" ctest --preset asan --parallel "$JOBS"
tools/stage.sh "short fuzz" tools/fuzz.sh "$short_fuzz_seconds"
tools/stage.sh "tsan build" bash -c "build tsan"
tools/stage.sh "tsan tests" ctest --preset tsan --parallel "$JOBS"
