#!/bin/bash
# tools/no_mutants.sh BINARY... [--mutant BINARY...]: fails where one of the first could breach the protocol by a mutation of
# batchweave/base/mutation.h, or end at a point of batchweave/base/fault_point.h; or where one of the last, for comparison,
# could not.
set -euo pipefail
cd "$(dirname "$0")/.."

mutation=_ZN10batchweave15active_mutationE # What every mutation asks.
mapfile -t labels < <(sed -n 's/^ *X("\([^"]*\)",.*/\1/p' batchweave/base/fault_point.h)
((${#labels[@]} > 0)) || { echo "no_mutants: no fault points in batchweave/base/fault_point.h" >&2; exit 1; }

# How many of what only mutants have are in the binary: the mutations' variable, each label of a fault point, and the
# environment's name for it. Fails where the binary was stripped: then its symbols prove nothing.
count() {
  local all found=0 text
  all=$(nm "$1")
  grep --quiet _ZN10batchweave <<<"$all" || { echo "no_mutants: no symbols: $1" >&2; return 1; }
  if grep --quiet "$mutation" <<<"$all"; then ((found += 1)); fi
  for text in "${labels[@]}" BATCHWEAVE_FAULT_POINT; do
    if grep --quiet --text --fixed-strings -- "$text" "$1"; then ((found += 1)); fi
  done
  echo "$found"
}

(($# > 0)) || { echo "usage: tools/no_mutants.sh BINARY... [--mutant BINARY...]" >&2; exit 2; }
expected=0
for binary in "$@"; do
  if [[ "$binary" == --mutant ]]; then
    expected=$((${#labels[@]} + 2))
    continue
  fi
  found=$(count "$binary")
  if ((found != expected)); then
    echo "no_mutants: $binary has $found of what mutants have, expected $expected" >&2
    exit 1
  fi
done
