# shellcheck shell=bash
# Packages of Debian built from their sources, for another C++ library or another system, for scripts that
# source this after common.sh as root.

# install_for_sources PACKAGE...: installs packages and has apt read sources.
install_for_sources() {
  local list=/etc/apt/sources.list.d/debian.sources
  export DEBIAN_FRONTEND=noninteractive
  if [ -e "$list" ]; then
    sed 's/^Types: deb$/Types: deb-src/' "$list" >"${list%/*}/sources_too.sources"
  else
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >/etc/apt/sources.list.d/sources_too.list
  fi
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends cmake ninja-build dpkg-dev "$@" >/dev/null
}

# install_zig: the compiler of scripts/zig.toolchain.cmake, in build/zig.
install_zig() {
  local zig=$PWD/build/zig header
  [ -e "$zig/ziglang" ] ||
    python3 -m pip -q install --no-compile --root-user-action ignore --no-deps --target "$zig" ziglang==0.17.1
  mkdir -p "$zig/bin"
  printf '#!/bin/sh\necho 14.0\n' >"$zig/bin/sw_vers"
  chmod +x "$zig/bin/sw_vers"
  # What <math.h> asks of <float.h>, infinity, must not be all that a file gets of it.
  header=$zig/ziglang/lib/libcxx/include/float.h
  grep -q __need_infinity_nan "$header" ||
    sed -i -e '1i #ifdef __need_infinity_nan\n#include_next <float.h>\n#else' -e '$a #endif' "$header"
  export ZIG_GLOBAL_CACHE_DIR=$zig/cache
}

# simplify PACKAGE FOLDER: gives sources a CMakeLists.txt for their library only: SQLite has none, and that of
# zlib names files that Debian leaves out. zlib takes macOS for a system of before 2001, without fdopen().
simplify() {
  local library=z files='*.c' headers='zlib.h zconf.h' definitions="HAVE_UNISTD_H fdopen=fdopen"
  if [ "$1" = sqlite3 ]; then
    library=sqlite3 files=sqlite3.c headers=sqlite3.h definitions=SQLITE_OMIT_LOAD_EXTENSION
    (cd "$2" && ./configure && make sqlite3.c sqlite3.h) >"$2.log" 2>&1 || fail "see $2.log"
  fi
  printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' "project($1 LANGUAGES C)" "file(GLOB files $files)" \
    "add_library($library \${files})" "target_compile_definitions($library PRIVATE $definitions)" \
    "install(TARGETS $library)" "install(FILES $headers TYPE INCLUDE)" >"$2/CMakeLists.txt"
}

# build_packages FOLDER CMAKE_ARGUMENT... -- PACKAGE...: builds them as shared libraries and installs them
# in FOLDER, once; each can use those before it.
build_packages() {
  local folder=$1 source package
  local -a arguments=()
  shift
  while [ "$1" != -- ]; do
    arguments+=("$1")
    shift
  done
  mkdir -p "$folder/source"
  for package in "${@:2}"; do
    [ ! -e "$folder/build/$package/install_manifest.txt" ] || continue
    say "building $package"
    (cd "$folder/source" && apt-get -qq source "$package" >/dev/null 2>&1)
    source=$(echo "$folder/source/$package"-*/)
    case "$package" in
      zlib | sqlite3) simplify "$package" "${source%/}" ;;
    esac
    [ ! -d "$source/build/cmake" ] || source+=build/cmake
    {
      cmake -S "$source" -B "$folder/build/$package" -G Ninja --no-warn-unused-cli -Wno-dev \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$folder" -DCMAKE_INSTALL_PREFIX="$folder" \
        -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF \
        -DFMT_TEST=OFF -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF \
        -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF -DJSON_BuildTests=OFF \
        -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF -DGIT_VERSION=0.0.0 \
        -DBENCHMARK_ENABLE_TESTING=OFF -DBENCHMARK_ENABLE_WERROR=OFF \
        -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_STATIC=OFF "${arguments[@]}" &&
        cmake --build "$folder/build/$package" --target install
    } >"$folder/$package.log" 2>&1 || fail "see $folder/$package.log"
  done
}
