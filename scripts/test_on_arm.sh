#!/usr/bin/env bash
# Compiles everything for 64-bit Arm and runs the tests of core and engine in an emulator, the kernels for
# NEON among them: for machines that are no Arm.
# Usage: scripts/test_on_arm.sh [FILTER...]  # of GoogleTest, for both programs, in place of all tests
# For Debian, as root: it installs packages of this machine, and those of Arm in build/arm_sysroot. To leave
# this machine as it is: scripts/test_on_debian.sh bookworm scripts/test_on_arm.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y --no-install-recommends cmake ninja-build qemu-user g++-aarch64-linux-gnu \
  mmdebstrap >/dev/null

# Unpacked only, so nothing has been set up: links that name the folder of another system, and the BLAS.
sysroot=$PWD/build/arm_sysroot
if [ ! -e "$sysroot/complete" ]; then
  rm -rf "$sysroot"
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  packages=$(echo {libtorch,libgloo,zlib1g,libzstd,libsqlite3,libyaml-cpp,libspdlog,libfmt,libcli11}-dev \
    {libgtest,libgmock,libbenchmark}-dev nlohmann-json3-dev libopenblas0-openmp)
  say "unpacking packages of Debian $suite in $sysroot"
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include="${packages// /,}" \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr "$suite" "$sysroot" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"}
  find "$sysroot/usr" -type l -lname '/*' | while read -r link; do
    ln -sfr "$sysroot$(readlink "$link")" "$link"
  done
  ln -s openblas-openmp/lib{blas.so.3,lapack.so.3,openblas.so.0} "$sysroot/usr/lib/aarch64-linux-gnu"
  touch "$sysroot/complete"
fi

cmake --preset arm
cmake --build --preset arm

# tests PROGRAM FILTER: in one process, because the emulator translates the code anew in each.
tests() {
  say "bin/$1 --gtest_filter=$2"
  qemu-aarch64 -L "$sysroot" "build/arm/bin/$1" --gtest_brief=1 --gtest_filter="$2"
}

if [ $# -gt 0 ]; then
  for filter in "$@"; do
    tests core_tests "$filter"
    tests engine_tests "$filter"
  done
  exit
fi
# Those of the memory of their process need one of their own. Left out is what measures speed, and a test of
# vfork(), which is fork() there: nobody learns that a program cannot be started.
tests core_tests "ProcessMemoryTest.*"
tests core_tests "-ProcessMemoryTest.*:*TheSpeedIsMeasured:*AProgramThatIsMissingIsAnError"
# LibTorch 1.13 multiplies no matrices in bf16 on Arm, which these compare with.
without=""
if grep -q "TORCH_VERSION_MAJOR 1" "$sysroot/usr/include/torch/csrc/api/include/torch/version.h"; then
  without="-ResumeGuardTest.AnotherKindOfProductsInBf16IsRefused:Bf16StepTest.TheLossIsThatOfLibTorchInBf16"
  without+=":LowPrecisionTest.GradientsInBf16AreNearlyThoseInFp32ForEveryModel"
  without+=":PrecisionTest.TheCpuComputesInFp32AndBf16:Bf16/AutocastTest.*"
fi
tests engine_tests "${without:-*}"
