#!/bin/sh
# Installs trainer, the program that applies models, from an archive of a release: chosen for this machine,
# compared with SHA256SUMS beside it, and put into PREFIX (else ~/.local). Needs neither root nor a compiler.
# Usage: sh install.sh FOLDER_OR_URL [PREFIX]    (where the archives and SHA256SUMS are)
#        sh install.sh --remove [PREFIX]
set -eu

say() { printf 'install: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 1
}

usage='usage: install.sh FOLDER_OR_URL [PREFIX], or install.sh --remove [PREFIX]'
case $# in
  1 | 2) ;;
  *) fail "$usage" ;;
esac
from=$1
prefix=${2:-${HOME:?"is not set; name a folder: install.sh FOLDER_OR_URL PREFIX"}/.local}
# Names of all files that were installed, below the prefix; the last is that of the list itself.
list=share/trainer/installed.txt

# remove_installed: deletes these files, then folders that are empty.
remove_installed() {
  names=$(cat "$prefix/$list")
  printf '%s\n' "$names" | while IFS= read -r name; do
    rm -f "$prefix/$name"
    folder=$(dirname "$name")
    while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do
      folder=$(dirname "$folder")
    done
  done
}

if [ "$from" = --remove ]; then
  [ -e "$prefix/$list" ] || fail "nothing to remove: $prefix/$list is not there"
  remove_installed
  printf 'removed from %s\n' "$prefix"
  exit
fi

case "$(uname -s) $(uname -m)" in
  'Linux x86_64') platform=linux-x86_64 ;;
  'Linux aarch64') platform=linux-aarch64 ;;
  'Darwin arm64') platform=macos-arm64 ;;
  *) fail "there is no archive for $(uname -s) on $(uname -m); build from source: make install" ;;
esac

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
# get NAME: brings a file into the room.
get() {
  case "$from" in
    http://* | https://* | file://*)
      if command -v curl >/dev/null; then
        curl -fsSL "${from%/}/$1" -o "$room/$1"
      else
        wget -q "${from%/}/$1" -O "$room/$1"
      fi ;;
    *) cp "$from/$1" "$room/$1" ;;
  esac || fail "cannot get $1 from $from"
}
# sum FILE: its SHA-256.
sum() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

get SHA256SUMS
entry=$(grep -E "  trainer-[^/]*-$platform\.tar\.gz\$" "$room/SHA256SUMS" | tail -n 1)
[ -n "$entry" ] || fail "$from/SHA256SUMS names no archive for $platform"
archive=${entry#*  }
get "$archive"
[ "$(sum "$room/$archive")" = "${entry%%  *}" ] ||
  fail "$archive is not what SHA256SUMS says (incomplete, or changed); nothing was installed"

mkdir "$room/new"
tar -xzf "$room/$archive" -C "$room/new" --strip-components=1
"$room/new/bin/trainer" --version >/dev/null || fail "the program of $archive does not run here; nothing was installed"
[ ! -e "$prefix/$list" ] || remove_installed
mkdir -p "$prefix"
(cd "$room/new" && find . -type f | sed 's|^\./||' | sort && echo "$list") >"$room/list"
cp -R "$room/new/." "$prefix/"
cp "$room/list" "$prefix/$list"

printf 'installed %s\n' "$prefix/bin/trainer"
# shellcheck disable=SC2016  # the PATH of the line that is shown
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) printf 'to find it by its name: export PATH="%s:$PATH"\n' "$prefix/bin" ;;
esac
