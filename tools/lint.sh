#!/bin/bash
# Every check that reads the sources, cheap ones first. `make format` mends what clang-format finds.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${JOBS:=$(nproc)}"

failed=()

# Runs all steps that can run, so that one run shows all there is to mend.
step() {
  local title=$1 start=$SECONDS
  shift
  if "$@"; then
    echo "lint: $title ok, $((SECONDS - start)) s"
  else
    echo "lint: $title FAILED"
    failed+=("$title")
  fi
}

shell_scripts() {
  { find tools examples tests -name '*.sh' 2>/dev/null || true; echo .ci/run; } | LC_ALL=C sort
}

check_format() { tools/sources.sh | xargs --no-run-if-empty clang-format-19 --dry-run -Werror; }
# Debian's cargo-web comes without rustfmt and clippy.
check_rust_format() { ! cargo fmt --version >/dev/null 2>&1 || cargo fmt --manifest-path batchweave/store/cloud/Cargo.toml --check; }
check_python() { tools/venv.sh && build/venv/bin/ruff check --quiet && build/venv/bin/ruff format --quiet --check; }
check_clippy() {
  ! cargo clippy --version >/dev/null 2>&1 ||
    cargo clippy --quiet --release --locked --manifest-path batchweave/store/cloud/Cargo.toml --target-dir build/cargo -- -D warnings
}
check_shell() { shell_scripts | xargs shellcheck; }
# The build of the sanitizers is clang's, and its warnings are errors: what it compiles need not be compiled once more.
build_clang() { cmake --preset asan >/dev/null && cmake --build build/asan --parallel "$JOBS" -- --quiet -k 0; }

check_with_clang_tidy() { tools/venv.sh && python3 tools/clang_tidy.py build/asan --jobs "$JOBS"; }

step "tests of tidy" python3 -m unittest --buffer tools/tidy_test.py
step "tests of the model's runner" python3 -m unittest --buffer model/run_test.py
step "tidy" python3 tools/tidy.py
step "clang-format" check_format
step "rustfmt" check_rust_format
step "ruff" check_python
step "clippy" check_clippy
step "shellcheck" check_shell
step "clang build" build_clang
step "clang-tidy" check_with_clang_tidy

if ((${#failed[@]} > 0)); then
  echo "lint: $(printf '%s, ' "${failed[@]}" | sed 's/, $//') failed"
  exit 1
fi
