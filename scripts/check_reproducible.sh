#!/usr/bin/env bash
# Builds the archive and the wheel for this machine of the last commit once more, in another folder, and compares
# them with those in build/packages, of the same commit.
# Usage: scripts/check_reproducible.sh [FOLDER]    (FOLDER: to build in, else a new one below /tmp)
# diffoscope, if it is installed, says what differs.
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "there are changes that are not committed"
scripts/package.sh archive
other=${1:-$(mktemp -d)}/another/folder
git clone --quiet --no-hardlinks . "$other"
# Compiler and packages are the same ones.
mkdir -p "$other/build"
ln -s "$PWD/build/zig" "$other/build/zig"
"$other/scripts/package.sh" archive

status=0
for file in "$other"/build/packages/*.{tar.gz,whl}; do
  name=${file##*/}
  if cmp -s "$file" "build/packages/$name"; then
    say "$name: the same bytes"
  else
    say "$name: differs"
    status=1
    ! command -v diffoscope >/dev/null || diffoscope --text - "build/packages/$name" "$file" || true
  fi
done
[ "$status" -ne 0 ] || rm -rf "${other%/another/folder}/another"
exit "$status"
