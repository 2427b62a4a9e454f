#!/usr/bin/env bash
# Builds and tests the committed tree on another release of Debian, and so with another LibTorch:
# bookworm has 1.13, trixie 2.6, sid the newest.
# Usage: scripts/test_on_debian.sh [--copy FILE]... SUITE [COMMAND...]
#        COMMAND      what to run there in place of: make test
#        --copy FILE  puts a file of this machine at the same place there, such as an apt.conf
# Needs root and debootstrap. The system stays in build/debian/SUITE for the next time.
# DEBIAN_MIRROR=URL: a mirror in place of http://deb.debian.org/debian
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=scripts/debian.sh
source "$(dirname "$0")/debian.sh"

copied=()
while [ "${1:-}" = --copy ]; do
  copied+=("$2")
  shift 2
done
suite=${1:?"usage: scripts/test_on_debian.sh [--copy FILE]... SUITE [COMMAND...]"}
shift
[ $# -gt 0 ] || set -- make test
root=$PWD/build/debian/$suite
install_debian "$root" "$suite" "${copied[@]}"

tree=$root/root/trainer
git init -q "$tree"
git -C "$tree" fetch -q "$PWD" HEAD
git -C "$tree" checkout -q --force --detach FETCH_HEAD

status=0
# shellcheck disable=SC2016  # for the shell that runs it
run_in_debian "$root" DEBIAN_MIRROR="$debian_mirror" \
  ${TRAINER_REQUIRE_ALL:+"TRAINER_REQUIRE_ALL=1"} bash -euc '
  apt-get -qq update
  apt-get -qq -y full-upgrade >/dev/null
  cd /root/trainer
  exec "$@"' chroot "$@" || status=$?

version=$(chroot "$root" dpkg-query -W libtorch-dev 2>/dev/null | cut -f 2) || true
say "Debian $suite, LibTorch ${version:-none}, $*: status $status"
exit "$status"
