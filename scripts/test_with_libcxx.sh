#!/usr/bin/env bash
# Builds what needs no LibTorch with Clang and its C++ library, which is that of macOS, and runs the tests.
# Usage: scripts/test_with_libcxx.sh [ctest's arguments]
# For Debian, as root: it installs packages, and has apt read sources. To leave this machine as it is:
# scripts/test_on_debian.sh trixie scripts/test_with_libcxx.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=scripts/source_packages.sh
source "$(dirname "$0")/source_packages.sh"

install_for_sources clang libc++-dev libc++abi-dev zlib1g-dev libzstd-dev libsqlite3-dev libcli11-dev \
  nlohmann-json3-dev
build_packages "$PWD/build/libcxx_packages" -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS=-stdlib=libc++ -- \
  fmtlib spdlog yaml-cpp googletest

cmake --preset libcxx
cmake --build --preset libcxx
scripts/run_tests.sh libcxx "$@"
