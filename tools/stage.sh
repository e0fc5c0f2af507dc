#!/bin/bash
# Runs a command under a heading, and notes how long it took in the file $STAGE_TIMES.
#   tools/stage.sh TITLE COMMAND [ARGUMENT...]
set -euo pipefail

title=$1
shift
: "${STAGE_TIMES:=build/stage-times.txt}"
mkdir -p "$(dirname "$STAGE_TIMES")"

printf '\n=== %s\n' "$title"
start=$SECONDS
status=0
"$@" || status=$?
took=$((SECONDS - start))
outcome=$([[ $status == 0 ]] && echo ok || echo "FAILED ($status)")
printf '=== %s: %s after %d s\n' "$title" "$outcome" "$took"
printf '%6d s  %-10s  %s\n' "$took" "$outcome" "$title" >>"$STAGE_TIMES"
exit "$status"
