#!/usr/bin/env bash
# Tries what scripts/package.sh made in a fresh minimal system in a folder. The packages are installed, used
# and removed: the core alone, training, export, a C++ program, half of them removed, nothing left behind.
# The archive predicts with a model.
# Usage: scripts/try_package.sh [debian|archive [SUITE]]    (SUITE: else the release of this machine)
# Needs root and debootstrap. DEBIAN_MIRROR=URL: a mirror in place of http://deb.debian.org/debian
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=scripts/debian.sh
source "$(dirname "$0")/debian.sh"

what=${1:-debian}
suite=${2:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
case "$what" in
  debian | archive) ;;
  *) fail "unknown word '$what'; expected debian or archive" ;;
esac
install_debian "$PWD/build/debian/minimal_$suite" "$suite"
root=$PWD/build/debian/try
rm -rf "$root"
cp -a "$PWD/build/debian/minimal_$suite" "$root"
room=$root/srv/try
mkdir "$room"

if [ "$what" = debian ]; then
  cp -r build/packages/*.deb tests/package configs/data/penguins.csv "$room/"
  run_in_debian "$root" bash /srv/try/package/use_package.sh
else
  trainer=$PWD/build/release/bin/trainer
  [ -x "$trainer" ] || fail "$trainer, which makes a model to predict with, is not there; run: make build"
  cp build/packages/trainer-*-linux-"$(uname -m)".tar.gz "$room/"
  cp configs/data/penguins.csv "$room/"
  "$trainer" --quiet --config configs/penguins.yaml --output-dir "$room/runs" --epochs 3 threads=1
  "$trainer" predict "$room/runs/latest" "$room/penguins.csv" --output "$room/expected.csv"
  # shellcheck disable=SC2016  # for the shell that runs it
  run_in_debian "$root" bash -euc '
    cd /srv/try
    TIMEFORMAT="from unpacking to the first prediction: %R s"
    time {
      tar -xf trainer-*.tar.gz
      trainer-*/bin/trainer predict penguins.csv --output predictions.csv
    }
    cmp expected.csv predictions.csv
    mv trainer-*/ /opt/moved
    cd /
    export PATH=/opt/moved/bin:$PATH
    trainer --version
    ldd /opt/moved/bin/trainer
    if said=$(trainer --config /opt/moved/share/trainer/configs/train.yaml 2>&1); then exit 1; fi
    echo "$said"
    [[ $said == *"built without LibTorch"* ]]'
fi
rm -rf "$root"
say "$suite, $what: good"
