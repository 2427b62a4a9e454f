#!/usr/bin/env bash
# Installs the peers in the versions of bench/peers/requirements.txt in a virtual environment, and prints its
# Python, which TRAINER_PYTHON names for compare.py and compare_tables.py. A second call installs what changed.
# Usage: TRAINER_PYTHON=$(bench/peers/setup_peers.sh [FOLDER]) make bench-peers    (FOLDER: build/peers)
# Environment: PYTHON=python3, which the environment is for. Downloads 3 GB, most of it libraries of CUDA
# without which PyTorch's wheel does not start.
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/../../scripts/common.sh"

folder=$(realpath -m "${1:-build/peers}")
python=${PYTHON:-python3}
log=$folder.log
mkdir -p "$(dirname "$folder")"
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder" ||
  fail "$python makes no virtual environment (Debian, Ubuntu: apt-get install python3-venv)"
say "installing the peers in $folder"
"$folder/bin/python" -m pip install --disable-pip-version-check -r bench/peers/requirements.txt >"$log" 2>&1 ||
  fail "pip could not install them: $(grep -m1 -i error "$log"); full output: $log"
echo "$folder/bin/python"
