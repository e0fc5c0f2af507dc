#!/bin/bash
# Starts a server of objects on loopback, as tools/servers.sh installs them, runs a command that finds an empty folder there
# by STORE_URL and credentials for it in the usual variables, and ends the server.
#   tools/with_server.sh s3|minio|az|gs COMMAND [ARGUMENT...]
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
servers=$root/build/servers
kind=${1:?which server? s3, minio, az, gs}
shift

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
data=$(mktemp --directory "$root/build/server.XXXXXX")
server=
# shellcheck disable=SC2317 # called by trap
finish() {
  [[ -z "$server" ]] || kill -9 "$server" 2>/dev/null || true
  rm -rf "$data"
}
trap finish EXIT

need() { [[ -x "$1" ]] || { echo "with_server: not installed: run tools/servers.sh first: $1" >&2; exit 1; }; }
endpoint="endpoint=http://127.0.0.1:$port"
key=dGVzdGVyLXNlY3JldA== # of a server that ends with this script
case "$kind" in
  s3)
    need "$servers/versitygw"
    mkdir "$data/bucket"
    export AWS_ACCESS_KEY_ID=tester AWS_SECRET_ACCESS_KEY=tester-secret
    ROOT_ACCESS_KEY=tester ROOT_SECRET_KEY=tester-secret "$servers/versitygw" --port "127.0.0.1:$port" --keep-alive \
      --quiet posix "$data" >/dev/null 2>&1 &
    STORE_URL="s3://bucket/streams?$endpoint&allow_http=true&region=us-east-1&path_style=true"
    ;;
  minio)
    need "$servers/minio"
    export AWS_ACCESS_KEY_ID=tester AWS_SECRET_ACCESS_KEY=tester-secret
    MINIO_ROOT_USER=tester MINIO_ROOT_PASSWORD=tester-secret MINIO_CI_CD=on MINIO_BROWSER=off "$servers/minio" server \
      --quiet --address "127.0.0.1:$port" --certs-dir "$data/certs" "$data/objects" >/dev/null 2>&1 &
    STORE_URL="s3://bucket/streams?$endpoint&allow_http=true&region=us-east-1&path_style=true"
    ;;
  az)
    need "$servers/node"
    export AZURE_STORAGE_ACCOUNT_KEY=$key
    AZURITE_ACCOUNTS="tester:$key" "$servers/node" "$servers/node_modules/azurite/dist/src/blob/main.js" --blobHost 127.0.0.1 \
      --blobPort "$port" --location "$data" --silent --disableTelemetry --skipApiVersionCheck >/dev/null 2>&1 &
    STORE_URL="az://bucket/streams?$endpoint/tester&allow_http=true&account_name=tester"
    ;;
  gs)
    mkdir "$data/bucket"
    export GOOGLE_BEARER_TOKEN=tester-token
    python3 "$root/tests/cloud/gcs_stub.py" "$port" "$data" tester-token >/dev/null 2>&1 &
    STORE_URL="gs://bucket/streams?$endpoint&allow_http=true"
    ;;
  *)
    echo "with_server: no such server: $kind: s3, minio, az or gs" >&2
    exit 1
    ;;
esac
server=$!
disown "$server" # Its end is nothing to tell.
export STORE_URL

listens() { python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null; }
for ((tries = 0; tries < 600; tries++)); do
  if listens; then break; fi
  kill -0 "$server" 2>/dev/null || { echo "with_server: the server ended before it listened: $kind" >&2; exit 1; }
  sleep 0.1
done
[[ "$kind" != minio ]] || python3 "$root/tests/cloud/set_bucket.py" "$port" tester tester-secret bucket plain
[[ "$kind" != az ]] || python3 "$root/tests/cloud/create_container.py" "$port" tester "$key" bucket
"$@"
