#!/bin/bash
# Builds the Python package of this tree, as far as its sources changed, and installs it into build/venv (or VENV).
set -euo pipefail
cd "$(dirname "$0")/.."

tools/venv.sh
# Not in isolation, where pip would build in a new place each time: the environment has what pyproject.toml asks for.
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "${VENV:-build/venv}/bin/python" -m pip --quiet --disable-pip-version-check --no-input \
  install --no-build-isolation --no-deps --force-reinstall .
