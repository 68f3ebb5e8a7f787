#!/usr/bin/env bash
# Run one step of the set-up with its output in a log: a line when it starts, one every 20 s, one when it ends.
# Usage: step.sh NAME TITLE COMMAND...
set -euo pipefail

name=$1
title=$2
shift 2

mkdir -p .make
log=".make/$name.log"
echo "==> $title"
"$@" >"$log" 2>&1 </dev/null &
job=$!
trap 'kill "$job" 2>/dev/null || true; exit 130' INT TERM

SECONDS=0
while kill -0 "$job" 2>/dev/null; do
  sleep 0.5
  if ((SECONDS >= ${due:=20})); then
    echo "    $SECONDS s: $(tail -n 1 "$log" | tr -d '\r' | cut -c 1-100)"
    due=$((SECONDS + 20))
  fi
done

if wait "$job"; then
  echo "    done in $SECONDS s"
else
  status=$?
  tail -n 40 "$log" >&2
  echo "    failed after $SECONDS s; the whole output is in $log" >&2
  exit "$status"
fi
