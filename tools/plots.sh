#!/bin/bash
# The figures of docs/commit-control.md, from a quick run of the laboratory.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/venv-plots
requirements=python/plots.txt
if ! cmp --silent "$requirements" "$venv/installed.txt"; then
  echo "plots: installing what $requirements lists into $venv"
  [[ -x "$venv/bin/python" ]] || python3 -m venv "$venv"
  "$venv/bin/python" -m pip --quiet --disable-pip-version-check --no-input install --requirement "$requirements"
  cp "$requirements" "$venv/installed.txt"
fi
build/release/bw_sim scale --json | tail -1 >build/scale.json
"$venv/bin/python" tools/plot_scale.py build/scale.json docs/images
