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

copied=(/etc/resolv.conf)
while [ "${1:-}" = --copy ]; do
  copied+=("$2")
  shift 2
done
suite=${1:?"usage: scripts/test_on_debian.sh [--copy FILE]... SUITE [COMMAND...]"}
shift
[ $# -gt 0 ] || set -- make test
[ "$(id -u)" -eq 0 ] || fail "only root can do this"
command -v debootstrap >/dev/null || fail "debootstrap is not installed"

mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
root=$PWD/build/debian/$suite
if [ ! -e "$root/root/complete" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  say "installing Debian $suite in $root"
  debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$root" "$mirror" \
    >"$root.log" || fail "see $root.log"
  chmod 755 "$root/root"
  echo "127.0.0.1 localhost" >"$root/etc/hosts"
  touch "$root/root/complete"
fi
tar -C / -chf - "${copied[@]#/}" | tar -C "$root" -xf -

tree=$root/root/trainer
git init -q "$tree"
git -C "$tree" fetch -q "$PWD" HEAD
git -C "$tree" checkout -q --force --detach FETCH_HEAD

# What is mounted is seen by these processes alone and ends with them. The folder is mounted on itself
# because tests and tools ask for the file system of /.
status=0
# shellcheck disable=SC2016  # both texts are for the shells that run them
unshare --mount bash -euc '
  mount --bind "$1" "$1"
  cd "$1"
  mount -t proc proc proc
  mount --rbind /sys sys
  mount --rbind /dev dev
  mount -t tmpfs tmpfs dev/shm
  exec chroot . env -i "${@:2}"' unshare "$root" \
  HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  DEBIAN_FRONTEND=noninteractive DEBIAN_MIRROR="$mirror" \
  ${TRAINER_REQUIRE_ALL:+"TRAINER_REQUIRE_ALL=1"} bash -euc '
  apt-get -qq update
  apt-get -qq -y full-upgrade >/dev/null
  cd /root/trainer
  exec "$@"' chroot "$@" || status=$?

version=$(chroot "$root" dpkg-query -W libtorch-dev 2>/dev/null | cut -f 2) || true
say "Debian $suite, LibTorch ${version:-none}, $*: status $status"
exit "$status"
