#!/usr/bin/env bash
# Print the path of a Python that the project runs on, or say what is missing.
# Each candidate is run, because a launcher of that name may exist and fail.
set -euo pipefail

probe='
import sys
if not (3, 10) <= sys.version_info[:2] < (3, 13):
    sys.exit(1)
import ensurepip, venv
print(sys.executable)
'

for candidate in ${PYTHON:+"$PYTHON"} python3.11 python3.12 python3.10 python3; do
  if found=$("$candidate" -c "$probe" 2>/dev/null </dev/null); then
    echo "$found"
    exit 0
  fi
  if [[ "$candidate" == "${PYTHON:-}" ]]; then
    echo "PYTHON=$PYTHON does not run, is not 3.10 to 3.12, or lacks venv; trying others." >&2
  fi
done

cat >&2 <<'TEXT'
No suitable Python: 3.10, 3.11 or 3.12 with the venv module is needed.
Tried: python3.11, python3.12, python3.10, python3.
Remedy: install one (on Debian and Ubuntu also its python3-venv package), or name it: make PYTHON=/path/to/python3.11 ...
TEXT
exit 1
