#!/bin/bash
# tools/no_mutants.sh BINARY... [--mutant BINARY]: fails where one of the first could breach the protocol by a mutation of
# batchweave/base/mutation.h, or where the last, for comparison, could not.
set -euo pipefail

variable=_ZN10batchweave15active_mutationE # What every mutation asks.

# Fails where the binary was stripped: then its symbols prove nothing.
symbols() {
  local all
  all=$(nm "$1")
  grep --quiet _ZN10batchweave <<<"$all" || { echo "no_mutants: no symbols: $1" >&2; return 1; }
  grep --count "$variable" <<<"$all" || true
}

(($# > 0)) || { echo "usage: tools/no_mutants.sh BINARY... [--mutant BINARY]" >&2; exit 2; }
while (($# > 0)); do
  expected=none
  if [[ "$1" == --mutant ]]; then
    expected=some
    shift
  fi
  count=$(symbols "$1")
  found=none
  if ((count > 0)); then found=some; fi
  if [[ $found != "$expected" ]]; then
    echo "no_mutants: $1 has $found of the mutations, expected $expected" >&2
    exit 1
  fi
  shift
done
