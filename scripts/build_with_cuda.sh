#!/usr/bin/env bash
# Compiles and links the program with a LibTorch for CUDA, so that the parts for CUDA and NCCL are seen by
# a compiler. Runs nothing: cuDNN is not installed.
# Usage: scripts/build_with_cuda.sh
# For Debian 13, as root: it installs 2.5 GB of packages of contrib and non-free, which replace the usual
# LibTorch. To leave this machine as it is: scripts/test_on_debian.sh trixie scripts/build_with_cuda.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

export DEBIAN_FRONTEND=noninteractive
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
echo "deb ${DEBIAN_MIRROR:-http://deb.debian.org/debian} $suite contrib non-free" \
  >/etc/apt/sources.list.d/non-free.list
# Or its package would download cuDNN.
echo "nvidia-cudnn nvidia-cudnn/question select I Decline" | debconf-set-selections
apt-get -qq update
apt-get -qq install -y --no-install-recommends \
  libtorch-cuda-dev nvidia-cuda-toolkit libnccl-dev libgloo-cuda-dev g++ cmake ninja-build \
  {zlib1g,libzstd,libsqlite3,libyaml-cpp,libcli11,libspdlog,libfmt}-dev nlohmann-json3-dev >/dev/null

cmake --preset release -B build/cuda -DTRAINER_TESTS=OFF -DTRAINER_BENCH=OFF
cmake --build build/cuda
symbols=$(nm -DC --undefined-only build/cuda/lib/libtrainer_engine.so)
for name in c10::cuda::CUDACachingAllocator c10d::ProcessGroupNCCL; do
  [[ "$symbols" == *"$name"* ]] || fail "libtrainer_engine.so does not use $name"
done
say "compiled with CUDA and NCCL"
