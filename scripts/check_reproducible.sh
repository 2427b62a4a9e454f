#!/usr/bin/env bash
# Builds packages of the last commit once more, in another folder, and compares them with those in build/packages, of
# the same commit.
# Usage: scripts/check_reproducible.sh [WORD...]    (words of scripts/package.sh; archive)
# diffoscope, if it is installed, says what differs.
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

[ $# -gt 0 ] || set -- archive
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "there are changes that are not committed"
scripts/package.sh "$@"
room=$(mktemp -d)
other=$room/another/folder
git clone --quiet --no-hardlinks . "$other"
# Compiler, packages and LibTorch are the same ones.
mkdir -p "$other/build"
for folder in zig libtorch; do
  [ ! -e "build/$folder" ] || ln -s "$PWD/build/$folder" "$other/build/$folder"
done
"$other/scripts/package.sh" "$@"

status=0
for file in "$other"/build/packages/*.{deb,tar.gz,whl}; do
  name=${file##*/}
  if [ ! -e "$file" ]; then  # there is none of this kind
    continue
  elif cmp -s "$file" "build/packages/$name"; then
    say "$name: the same bytes"
  else
    say "$name: differs"
    status=1
    ! command -v diffoscope >/dev/null || diffoscope --text - "build/packages/$name" "$file" || true
  fi
done
[ "$status" -ne 0 ] || rm -rf "$room"
exit "$status"
