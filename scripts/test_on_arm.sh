#!/usr/bin/env bash
# Compiles all that needs no LibTorch for 64-bit Arm and runs its tests, the kernels for NEON among
# them, in an emulator: for machines that are no Arm.
# Usage: scripts/test_on_arm.sh
# For Debian, as root: it installs packages of that architecture. To leave this machine as it is:
# scripts/test_on_debian.sh trixie scripts/test_on_arm.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

export DEBIAN_FRONTEND=noninteractive
dpkg --add-architecture arm64
apt-get -qq update
apt-get -qq install -y --no-install-recommends cmake ninja-build qemu-user g++-aarch64-linux-gnu \
  {zlib1g,libzstd,libsqlite3,libyaml-cpp,libspdlog,libfmt,libgtest}-dev:arm64 \
  libcli11-dev nlohmann-json3-dev >/dev/null
cmake --preset arm
cmake --build --preset arm
# In one process, because the emulator translates the code anew in each, but for tests of the memory of
# their process. Left out is what measures speed, and a test of vfork(), which is fork() there: nobody
# learns that a program cannot be started.
for filter in "ProcessMemoryTest.*" \
  "-ProcessMemoryTest.*:*TheSpeedIsMeasured:*AProgramThatIsMissingIsAnError"; do
  qemu-aarch64 build/arm/bin/core_tests --gtest_brief=1 --gtest_filter="$filter"
done
