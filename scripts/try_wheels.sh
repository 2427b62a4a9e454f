#!/usr/bin/env bash
# Tries the wheels that scripts/package.sh made: auditwheel names their oldest glibc; that of this machine is
# installed in a fresh environment, up to its first prediction, and with that of the engine, if there is one, up to its
# first trained model; that of 64-bit Arm predicts in an emulator; of that of macOS the signature, the libraries and the
# version of the system are checked. Predictions and kernels are those of build/release/bin/trainer. torch is installed
# with what its library for the CPU needs only.
# Usage: scripts/try_wheels.sh
# Needs python3-venv, and for Arm qemu-user and libc6-arm64-cross.
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

room=$PWD/build/try_wheels
rm -rf "$room"
mkdir -p "$room"
trainer=build/release/bin/trainer
[ -x $trainer ] || fail "$trainer, which makes a model to predict with, is not there; run: make build"
$trainer --quiet --config configs/penguins.yaml --output-dir "$room/runs" --epochs 3 threads=1
predict() {  # predict OUTPUT PROGRAM...
  "${@:2}" predict "$room/runs/latest" configs/data/penguins.csv --output "$room/$1" 2>/dev/null
}
predict expected.csv $trainer
python3 -m venv "$room/tools"
"$room/tools/bin/pip" -q install auditwheel

same() {  # same OUTPUT: equal to seven digits, for other C libraries
  python3 - "$room/expected.csv" "$room/$1" <<'PYTHON' || fail "$1 differs from expected.csv in $room"
import csv
import sys
expected, found = (list(csv.reader(open(name))) for name in sys.argv[1:])
assert len(expected) == len(found) and expected[0] == found[0]
for one, other in zip(expected[1:], found[1:]):
    assert one[0] == other[0]
    assert all(abs(float(a) - float(b)) < 1e-6 for a, b in zip(one[1:], other[1:])), (one, other)
PYTHON
}

kernels() { "$1" doctor | sed -n 's/.* CPU .*kernels for \([^;,]*\).*/\1/p' || true; }

# what_is_said PROGRAM...: the line about an error, from a folder with a configuration.
what_is_said() { "$@" 2>&1 >/dev/null | sed -n 's/^error: //p' || true; }

# try_training WHEEL: in the fresh environment, which has the program.
try_training() {
  local pip=("$room/fresh/bin/pip" -q install --no-compile) train=("$room/fresh/bin/trainer") packages torch cuda said folder
  train+=(--quiet --config configs/penguins.yaml --output-dir "$room/trained" --epochs 3 threads=1)
  packages=$(echo "$room"/fresh/lib/python3*/site-packages)
  said=$(what_is_said "${train[@]}")
  [[ $said == *"pip install 'trainer-cli[train]')" ]] || fail "without the wheel of the engine: $said"
  "${pip[@]}" --no-index --no-deps "$1"
  said=$(what_is_said "${train[@]}")
  [[ $said == "cannot load libtrainer_engine.so: "* ]] || fail "without torch: $said"
  torch=$(sed -n 's/^Requires-Dist: \(torch.*\)/\1/p' "$packages"/trainer_cli_engine-*/METADATA)
  "${pip[@]}" --no-deps "$torch"
  cuda=$(sed -nE 's/^Requires-Dist: cuda-toolkit\[.*\](==[0-9.]+).*/\1/p' "$packages"/torch-*/METADATA)
  "${pip[@]}" "cuda-toolkit[cudart,cupti]$cuda"
  "$room/fresh/bin/pip" -q uninstall -y trainer-cli-engine
  TIMEFORMAT="from the installed torch to the first trained model: %R s"
  time {
    "${pip[@]}" --no-index --no-deps "$1"
    "${train[@]}"
  }
  "$room/fresh/bin/trainer" predict "$room/trained/latest" configs/data/penguins.csv --output "$room/trained.csv" \
    2>/dev/null
  same trained.csv
  sed -i.good "s/^__version__ = .*/__version__ = '2.1.0'/" "$packages/torch/version.py"
  said=$(what_is_said "${train[@]}")
  [[ $said == "this trainer trains with torch "*" has 2.1.0; pip install '$torch'" ]] || fail "another torch: $said"
  mv "$packages/torch/version.py.good" "$packages/torch/version.py"
  folder=$packages/trainer_engine/$(project_version)
  mv "$folder" "$packages/trainer_engine/0.0.9"
  said=$(what_is_said "${train[@]}")
  [[ $said == "$packages/trainer_engine is of another version than trainer "* ]] || fail "another engine: $said"
  mv "$packages/trainer_engine/0.0.9" "$folder"
  "$room/fresh/bin/pip" -q uninstall -y trainer-cli-engine
  [ ! -e "$packages/trainer_engine" ] || fail "pip uninstall leaves the engine"
}

for wheel in build/packages/*.whl; do
  name=${wheel##*-py3-none-}
  [[ "$wheel" != *_engine-* ]] || continue
  say "$(basename "$wheel"): $(du -k "$wheel" | cut -f 1) kB"
  rm -rf "$room/wheel"
  python3 -m zipfile -e "$wheel" "$room/wheel"
  program=$(echo "$room"/wheel/*.data/scripts/trainer)
  chmod +x "$program"
  case "$name" in
    manylinux*)
      tag=$("$room/tools/bin/auditwheel" show "$wheel" | grep -o 'manylinux_[0-9]*_[0-9]*_[a-z0-9_]*' | sort -uV)
      say "auditwheel: ${tag//$'\n'/ }"
      ;;
  esac
  case "$name" in
    *_"$(uname -m)".whl)
      TIMEFORMAT="from nothing to the first prediction: %R s, of them python3 -m venv:"
      time {
        TIMEFORMAT="%R s"
        time python3 -m venv "$room/fresh"
        "$room/fresh/bin/pip" -q install --no-index "$wheel"
        predict wheel.csv "$room/fresh/bin/trainer"
        TIMEFORMAT="from nothing to the first prediction: %R s"
      }
      same wheel.csv
      [ "$(kernels "$room/fresh/bin/trainer")" = "$(kernels $trainer)" ] || fail "its kernels are others"
      engine=$(find build/packages -name "trainer_cli_engine-*_$(uname -m).whl")
      [ -z "$engine" ] || try_training "$engine"
      "$room/fresh/bin/pip" -q uninstall -y trainer-cli
      [ ! -e "$room/fresh/bin/trainer" ] || fail "pip uninstall leaves the program"
      ;;
    *aarch64.whl)
      predict arm.csv qemu-aarch64 -L /usr/aarch64-linux-gnu "$program"
      same arm.csv
      ;;
    macosx*) scripts/check_macos_program.py "$program" "$(sed -E 's/macosx_([0-9]+)_([0-9]+)_.*/\1.\2/' <<<"$name")" ;;
  esac
done
rm -rf "$room"
say "good"
