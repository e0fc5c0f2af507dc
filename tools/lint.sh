#!/bin/bash
# Every check that reads the sources: cheap ones first. `make format` mends what clang-format finds.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${JOBS:=$(nproc)}"

step() {
  local title=$1 start=$SECONDS
  shift
  "$@" || { echo "lint: $title FAILED"; exit 1; }
  echo "lint: $title ok, $((SECONDS - start)) s"
}

shell_scripts() {
  { find tools examples tests -name '*.sh' 2>/dev/null || true; echo .ci/run; } | LC_ALL=C sort
}

check_format() { tools/sources.sh | xargs --no-run-if-empty clang-format-19 --dry-run -Werror; }
check_shell() { shell_scripts | xargs shellcheck; }
build_clang() { cmake --preset clang >/dev/null && cmake --build build/clang --parallel "$JOBS"; }

step "tests of tidy" python3 -m unittest --buffer tools/tidy_test.py
step "tidy" python3 tools/tidy.py
step "clang-format" check_format
step "shellcheck" check_shell
step "clang build" build_clang
step "clang-tidy" python3 tools/clang_tidy.py build/clang --jobs "$JOBS"
