#!/usr/bin/env bash
# Builds everything for macOS on Apple silicon: program, libraries, tests and benchmarks, with LibTorch's
# own libraries for it, MPS included. Runs nothing of it. A second run compiles what changed.
# Usage: scripts/check_for_macos.sh
# For Debian, as root: it installs packages, and has apt read sources. To leave this machine as it is:
# scripts/test_on_debian.sh trixie scripts/check_for_macos.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=scripts/source_packages.sh
source "$(dirname "$0")/source_packages.sh"

install_for_sources llvm python3-pip zlib1g-dev libsqlite3-dev

packages=$PWD/build/macos_packages
zig=$PWD/build/zig/ziglang/zig
mkdir -p "$packages"/{include,lib}
install_zig
[ -e "$packages/torch" ] || python3 -m pip -q install --no-compile --root-user-action ignore --no-deps \
  --target "$packages" torch==2.15.0 --only-binary=:all: --platform macosx_14_0_arm64 --python-version 3.12

# stub NAME LIBRARY: a library of the system, /usr/lib/LIBRARY, as a list of the symbols in the input, to
# link with. What a file defines itself comes before those after "weak ".
stub() {
  local symbols
  symbols=$(sort -u)
  {
    printf -- '--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\ninstall-name: /usr/lib/%s\n' "$2"
    printf 'exports:\n  - targets: [ arm64-macos ]\n    symbols:\n'
    sed -n "/^weak /!s/.*/      - '&'/p" <<<"$symbols"
    [[ "$symbols" != *"weak "* ]] || printf '    weak-symbols:\n'
    sed -n "s/^weak \(.*\)/      - '\1'/p" <<<"$symbols"
    printf '...\n'
  } >"$packages/lib/$1.tbd"
}

# Zig's own C++ library has the symbols of that of macOS, and some that macOS 14 lacks: new functions, which the
# compiler refuses, classes that were inline once, and the inline functions of its version (B9nie220108).
echo 'int main() {}' >"$packages/empty.cpp"
mapfile -t archives < <("$zig" c++ -target aarch64-macos.14.0 -v "$packages/empty.cpp" -o "$packages/empty" 2>&1 |
  grep -o '[^ ]*/libc++[a-z]*\.a')
llvm-nm -m --defined-only --extern-only "${archives[@]}" |
  sed -n -e '/B[0-9]*n[a-z]*[0-9]\{6\}\|bad_function_call\|bad_expected_access\|___clang_call_terminate/d' \
    -e 's/.*) \(weak \)*\(private \)*external \(\[.*\] \)*\(_.*\)/\1\4/p' | stub libc++ libc++.1.dylib
# Those of Debian stand for the system's.
for library in z:libz.1 sqlite3:libsqlite3; do
  llvm-nm --dynamic --defined-only "/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/lib${library%%:*}.so" |
    sed -n 's/.* [TDBR] \([^@]*\).*/_\1/p' | stub "lib${library%%:*}" "${library##*:}.dylib"
done
cp /usr/include/{zlib.h,zconf.h,sqlite3.h} "$packages/include"

build_packages "$packages" -DCMAKE_TOOLCHAIN_FILE="$PWD/scripts/macos.toolchain.cmake" \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_RPATH=@loader_path -- \
  nlohmann-json3 cli11 fmtlib spdlog yaml-cpp libzstd googletest benchmark

cmake --preset macos
cmake --build --preset macos

# With a second C++ library in one of them, nobody would catch what LibTorch throws as std::exception.
for file in build/macos/bin/* build/macos/lib/*.dylib; do
  libraries=$(llvm-objdump --macho --dylibs-used "$file")
  [[ "$libraries" == */usr/lib/libc++.1.dylib* ]] || fail "$file does not use the C++ library of macOS"
done
for file in build/macos/bin/* {build/macos,"$packages"}/lib/*.dylib; do
  defined=$(llvm-nm --defined-only --just-symbol-name "$file")
  [[ "$defined" != *__ZTISt9exception* ]] || fail "$file has a C++ library of its own"
  undefined=$(llvm-nm -m --undefined-only "$file")
  [[ "$undefined" != *"dynamically looked up"* ]] || fail "$file needs symbols of no library: $undefined"
done
say "built for macOS: build/macos"
