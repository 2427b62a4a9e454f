#!/usr/bin/env bash
# Installs the release build and says where the program is.
# Usage: scripts/install.sh [PREFIX]    (without: /usr/local for root, else ~/.local)
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

prefix=${1:-}
if [ -z "$prefix" ]; then
  if [ "$(id -u)" -eq 0 ]; then
    prefix=/usr/local
  else
    prefix=${HOME:?"is not set; name a folder: make install PREFIX=/path"}/.local
  fi
fi
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
cmake --install build/release --prefix "$prefix" >build/release/installed.txt

printf 'installed %s\n' "$prefix/bin/trainer"
# shellcheck disable=SC2016  # the PATH of the line that is shown
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) printf 'to find it by its name: export PATH="%s:$PATH"\n' "$prefix/bin" ;;
esac
