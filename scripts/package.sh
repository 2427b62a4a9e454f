#!/usr/bin/env bash
# Makes in build/packages the packages trainer, trainer-engine, trainer-onnx and trainer-dev for the release
# of Debian or Ubuntu that this is, and an archive and a Python wheel with a program that applies models and
# needs the C library only. scripts/try_package.sh tries them.
# Usage: scripts/package.sh [debian] [archive]    (no word: both; the wheel comes with the archive)
# DEBFULLNAME, DEBEMAIL: who makes the packages, else the author of the last commit.
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

[ $# -gt 0 ] || set -- debian archive
version=$(sed -n 's/^project(trainer VERSION \([^ ]*\).*/\1/p' CMakeLists.txt)
maintainer="${DEBFULLNAME:-$(git log -1 --format=%an)} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"
# The dates of files and of the change log.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
mkdir -p build/packages

# put_licenses FOLDER PACKAGE...: those of code that is compiled in.
put_licenses() {
  local folder=$1 package
  shift
  rm -rf "$folder"
  mkdir -p "$folder"
  for package in "$@"; do
    install -m 644 "/usr/share/doc/$package/copyright" "$folder/$package"
  done
}

# pack TREE: what CPack makes of it, moved to build/packages.
pack() {
  local tree=$1
  rm -rf "$tree/cpack"
  cpack --config "$tree/CPackConfig.cmake" -B "$tree/cpack" \
    -D CPACK_PACKAGE_CONTACT="$maintainer" >"$tree/cpack.log" 2>&1 ||
    fail "$(tail -n 5 "$tree/cpack.log"); see $tree/cpack.log"
  find "$tree/cpack" -maxdepth 1 -type f -exec mv -t build/packages {} +
  rm -rf "$tree/cpack"
}

make_debian() {
  local made=build/release/package part packages
  cmake --build --preset package
  put_licenses "$made/licenses" libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev
  gzip -9nc build/release/share/man/man1/trainer.1 >"$made/trainer.1.gz"
  printf 'trainer (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -Rud "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$made/changelog.gz"
  ln -sf ../lib/trainer/bin/trainer "$made/trainer"
  for part in engine onnx dev; do
    ln -sfn trainer "$made/trainer-$part"
  done
  rm -f build/packages/*.deb
  pack build/release
  packages=(build/packages/*.deb)
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning "${packages[@]}" || fail "lintian: see above"
  else
    say "note: lintian is not installed, so the packages are not checked"
  fi
  say "made ${packages[*]}"
}

make_archive() {
  local needed tree=build/static
  [ -f $tree/build.ninja ] || cmake --preset static >/dev/null
  cmake --build --preset static
  put_licenses $tree/package/licenses libcli11-dev libfmt-dev libspdlog-dev libsqlite3-dev \
    libyaml-cpp-dev libzstd-dev nlohmann-json3-dev zlib1g-dev libstdc++6
  needed=$(readelf -dW $tree/bin/trainer | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libm|ld-linux.*)\.so\.[0-9]+$' || true)
  [ -z "$needed" ] || fail "$tree/bin/trainer needs more than the C library: ${needed//$'\n'/, }"
  rm -f build/packages/*.tar.gz* build/packages/*.whl
  pack $tree
  strip -o $tree/package/trainer $tree/bin/trainer
  scripts/make_wheel.py $tree/package/trainer build/packages --licenses $tree/package/licenses \
    --manual $tree/share/man/man1/trainer.1 >/dev/null
  say "made $(echo build/packages/*.{tar.gz,whl}); needs $(readelf -VW $tree/bin/trainer |
    grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1) or newer"
}

for part in "$@"; do
  case "$part" in
    debian) make_debian ;;
    archive) make_archive ;;
    *) fail "unknown word '$part'; expected debian or archive" ;;
  esac
done
