#!/usr/bin/env bash
# Tries the wheels that scripts/package.sh made: auditwheel names their oldest glibc; that of this machine is
# installed in a fresh environment, up to its first prediction; that of 64-bit Arm predicts in an emulator; of
# that of macOS the signature, the libraries and the version of the system are checked. Predictions and kernels are those of build/release/bin/trainer.
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

for wheel in build/packages/*.whl; do
  name=${wheel##*-py3-none-}
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
