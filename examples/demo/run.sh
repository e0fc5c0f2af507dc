#!/bin/bash
# Usage: run.sh [OPTIONS of demo_run]
#
# The demo: fetches the data (once), then runs producers and ranks on it, as built by `make build`. `make demo` builds
# first. Everything lies below build/demo, but for the stream where STORE_URL says of what folder of a store it shall lie.
# The last line is one JSON object; the exit code says whether all went well.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${BUILD_DIR:-build/release}
directory=build/demo

if [[ ! -x $build/examples/demo/demo_run || ! -x $build/batchweave ]]; then
  echo "demo: not built in $build: run make build first" >&2
  exit 1
fi
examples/demo/fetch.sh "$directory"
exec "$build/examples/demo/demo_run" "$directory" --batchweave "$build/batchweave" ${STORE_URL:+--store "$STORE_URL"} "$@"
