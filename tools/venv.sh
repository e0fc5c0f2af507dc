#!/bin/bash
# Makes a virtual environment with what python/requirements.txt and python/peers.txt list, and nothing where it is there.
#   tools/venv.sh                                            build/venv, of python3
#   VENV=build/venv-3.12 PYTHON=python3.12 tools/venv.sh     another
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${VENV:-build/venv}
requirements=python/requirements.txt
peers=python/peers.txt
tries_max=3 # a registry that is busy for a moment should not fail the tests

install() {
  local i
  for ((i = 1; i <= tries_max; i++)); do
    if "$venv/bin/python" -m pip --quiet --disable-pip-version-check --no-input install "$@"; then
      return 0
    fi
    ((i == tries_max)) || sleep $((i * 5))
  done
  echo "venv: failed $tries_max times" >&2
  return 1
}

if ! cat "$requirements" "$peers" | cmp --silent - "$venv/installed.txt"; then
  echo "venv: installing what $requirements and $peers list into $venv"
  [[ -x "$venv/bin/python" ]] || "${PYTHON:-python3}" -m venv "$venv"
  install --requirement "$requirements"
  install --no-deps --requirement "$peers"
  cat "$requirements" "$peers" >"$venv/installed.txt"
fi
