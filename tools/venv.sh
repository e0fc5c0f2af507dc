#!/bin/bash
# Makes build/venv: a virtual environment with what python/requirements.txt lists, and nothing where it is there.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/venv
requirements=python/requirements.txt
tries_max=3 # a registry that is busy for a moment should not fail the tests

install() {
  local i
  for ((i = 1; i <= tries_max; i++)); do
    if "$venv/bin/python" -m pip --quiet --disable-pip-version-check --no-input install --requirement "$requirements"; then
      return 0
    fi
    ((i == tries_max)) || sleep $((i * 5))
  done
  echo "venv: failed $tries_max times" >&2
  return 1
}

if ! cmp --silent "$requirements" "$venv/requirements.txt"; then
  echo "venv: installing what $requirements lists into $venv"
  [[ -x "$venv/bin/python" ]] || python3 -m venv "$venv"
  install
  cp "$requirements" "$venv/requirements.txt"
fi
