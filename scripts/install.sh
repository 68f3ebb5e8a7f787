#!/usr/bin/env bash
# Make the virtual environment and install the package with its tools into it. Usage: install.sh FOLDER
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
venv=$1
suits='import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 13))'

if ! "$venv/bin/python" -c "$suits" 2>/dev/null </dev/null; then
  python=$("$here/find_python.sh")
  echo "==> Making $venv with $("$python" -V) ($python)"
  rm -rf "$venv"
  "$python" -m venv "$venv"
fi

"$here/step.sh" install "Installing the package and its tools (some minutes the first time: Flink is 250 MB)" \
  "$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off --editable '.[demo,dev,http]'
