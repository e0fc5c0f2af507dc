#!/bin/bash
# Builds the Python package for each CPython from 3.10 on that is found here, and runs its tests there.
#   tools/pythons.sh                        those on PATH, and those of pyenv where it is installed
#   PYTHONS="python3.12 python3.13" tools/pythons.sh
set -euo pipefail
cd "$(dirname "$0")/.."

supported='import sys, sysconfig; sys.exit(not (sys.implementation.name == "cpython" and sys.version_info >= (3, 10)
  and __import__("os").path.exists(sysconfig.get_path("include") + "/Python.h")))'

candidates() {
  compgen -c | grep --extended-regexp --line-regexp 'python3\.[0-9]+' | sort --unique --version-sort || true
  command -v pyenv >/dev/null && printf '%s\n' "$(pyenv root)"/versions/3.*/bin/python3
}

declare -A found=() # by version, the first one
for python in ${PYTHONS:-$(candidates)}; do
  "$python" -c "$supported" 2>/dev/null || continue
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  [[ -n "${found[$version]:-}" ]] || found[$version]=$python
done
((${#found[@]} > 0)) || { echo "pythons: no CPython from 3.10 on with its headers" >&2; exit 1; }

failed=()
for version in $(printf '%s\n' "${!found[@]}" | sort --version-sort); do
  echo "pythons: $version, ${found[$version]##*/}"
  export VENV=build/venv-$version PYTHON=${found[$version]}
  if ! { tools/python.sh && "$VENV/bin/python" -m pytest --quiet; }; then failed+=("$version"); fi
done
((${#failed[@]} == 0)) || { echo "pythons: failed: ${failed[*]}" >&2; exit 1; }
