#!/bin/bash
# Lists the project's own C++ files, one a line.
set -euo pipefail
cd "$(dirname "$0")/.."

shopt -s nullglob
roots=(batchweave sim bench cli examples tests python)
existing=()
for root in "${roots[@]}"; do
  if [[ -d "$root" ]]; then existing+=("$root"); fi
done
find "${existing[@]}" \( -name '*.cc' -o -name '*.h' \) -print | LC_ALL=C sort
