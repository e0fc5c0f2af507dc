#!/bin/bash
# Runs each fuzz target of build/asan for a while, two at a time. What it finds lies in build/fuzz/<target>/.
#   tools/fuzz.sh SECONDS         [FUZZ_SEED=n for a run that can be repeated]
set -euo pipefail
cd "$(dirname "$0")/.."

total_seconds_max=$((20 * 60)) # of wall time, however many targets there are

fuzz_one() {
  local binary=$1 seconds=$2 name corpus work
  name=$(basename "$binary" _fuzz)
  corpus=tests/fuzz/corpus/$name
  work=build/fuzz/$name
  mkdir -p "$work/corpus"
  # The first corpus is where new inputs go; the one in the repository is read only.
  local corpora=("$work/corpus")
  if [[ -d "$corpus" ]]; then corpora+=("$corpus"); fi
  if ! timeout $((seconds + 60)) "$binary" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -seed="${FUZZ_SEED:-0}" \
    -artifact_prefix="$work/" "${corpora[@]}" >"$work/log.txt" 2>&1; then
    tail -n 60 "$work/log.txt"
    echo "fuzz: $name FAILED: the input is in $work/ and in base64 above; $binary FILE runs it again"
    return 1
  fi
  printf 'fuzz: %-24s %s\n' "$name" "$(grep -E '^Done ' "$work/log.txt" || tail -n 1 "$work/log.txt")"
}

if [[ "$1" == --one ]]; then
  fuzz_one "$3" "$2"
  exit
fi
seconds=$1
shopt -s nullglob
targets=(build/asan/fuzz/*_fuzz)
((${#targets[@]} > 0)) || { echo "fuzz: no targets in build/asan/fuzz/"; exit 1; }
fitting=$((2 * total_seconds_max / ${#targets[@]}))
((seconds <= fitting)) || seconds=$fitting

printf '%s\n' "${targets[@]}" | xargs -P 2 -n 1 tools/fuzz.sh --one "$seconds"
