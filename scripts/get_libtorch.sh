#!/usr/bin/env bash
# Brings the newest PyTorch wheel for this machine into a folder, as LibTorch to build with: its libraries for the
# CPU and its headers, without Python, CUDA and what else the wheel needs, but for the two libraries of CUDA that
# its library for the CPU is linked with. CMake calls it for TRAINER_LIBTORCH=wheel; called by hand, it takes the
# newest anew.
# Usage: scripts/get_libtorch.sh [FOLDER]    (build/libtorch; the LibTorch is then in FOLDER/torch)
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

folder=${1:-build/libtorch}
new=$folder.new
log=$folder.log

# The Python that has pip: pip takes the wheel for it, of which all that depends on Python is removed again.
python=""
for name in python3 python; do
  if command -v "$name" >/dev/null && "$name" -m pip --version >/dev/null 2>&1; then python=$name; fi
  [ -z "$python" ] || break
done
[ -n "$python" ] ||
  fail "a wheel is installed by pip, which no Python here has (Debian, Ubuntu: apt-get install python3-pip);" \
    "or TRAINER_LIBTORCH=DIR names a LibTorch that is there"

install() {  # install WHAT...: into the new folder
  "$python" -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-compile \
    --only-binary :all: --target "$new" "$@" >>"$log" 2>&1 ||
    fail "pip could not install $* (no network, or no wheel for this machine); full output: $log"
}

mkdir -p "$(dirname "$folder")"
rm -rf "$new"
: >"$log"
trap 'rm -rf "$new"' EXIT
say "installing the newest PyTorch wheel (540 MB) in $folder"
install --no-deps torch

# What libtorch_cpu.so needs of CUDA, in the versions that the wheel asks for: "cuda-toolkit[...,cudart,cupti]==13.2.2"
# or, of older wheels, "nvidia-cuda-runtime-cu12==12.8.90".
metadata=$(cat "$new"/torch-*.dist-info/METADATA)
needed=$(sed -nE -e 's/^Requires-Dist: cuda-toolkit\[[^]]*\](==[0-9.]+).*/cuda-toolkit[cudart,cupti]\1/p' \
  -e 's/^Requires-Dist: (nvidia-cuda-(runtime|cupti)[a-z0-9-]*==[0-9.]+).*/\1/p' <<<"$metadata")
# shellcheck disable=SC2086  # one word a package
[ -z "$needed" ] || install $needed

find "$new/torch" -mindepth 1 -maxdepth 1 ! -name lib ! -name include ! -name version.py -exec rm -rf {} +
find "$new" -mindepth 1 -maxdepth 1 ! -name torch ! -name nvidia ! -name '*.dist-info' -exec rm -rf {} +
rm -rf "$new"/torch/lib/lib{torch_cuda,c10_cuda,caffe2_nvrtc,torch_nvshmem,torch_python,torch_global_deps,torch.,shm}*
rm -rf "$folder"
mv "$new" "$folder"
rm -f "$log"
say "installed PyTorch $(sed -n 's/^Version: //p' <<<"$metadata") in $folder, $(du -sh "$folder" | cut -f1)"
