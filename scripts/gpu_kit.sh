#!/usr/bin/env bash
# Builds everything that scripts/gpu_check.sh runs on a machine with an accelerator and the PyTorch wheel
# named here, into one archive: program, tests, benchmarks, and the libraries that the machine may lack.
# Usage: scripts/gpu_kit.sh [macos]
#   macos   packs what scripts/check_for_macos.sh has built, with its LibTorch; a Mac needs nothing more
# Environment:
#   TORCH_VERSION   of the wheel (2.11.0); the machine there needs the same one
#   PYTHON_VERSION  of the Python there (3.12)
# Result: build/gpu/kit.tar.gz, or build/macos/kit.tar.gz. On the machine, in an empty folder:
#   tar xzf kit.tar.gz && kit/scripts/gpu_check.sh kit results
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

version=${TORCH_VERSION:-2.11.0}
python_version=${PYTHON_VERSION:-3.12}
wheels=$PWD/build/gpu/wheels
site=$PWD/build/gpu/site-packages

# The wheel itself, and of those that it needs the ones with headers and what it needs to start here.
get_wheels() {
  local platform platforms=(--platform manylinux2014_x86_64 --platform manylinux1_x86_64)
  for platform in 5 12 17 24 25 26 27 28; do
    platforms+=(--platform "manylinux_2_${platform}_x86_64")
  done
  mkdir -p "$wheels" "$site"
  local name
  for name in "torch==$version" 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cccl==13.0.*' \
    'nvidia-cuda-crt==13.0.*' 'nvidia-cublas==13.*' 'nvidia-cusparse==12.*' 'nvidia-cusolver==12.*' \
    'nvidia-nccl-cu13==2.*' 'nvidia-cuda-cupti==13.*'; do
    python3 -m pip download -q --no-deps --only-binary=:all: --python-version "$python_version" \
      --implementation cp "${platforms[@]}" -d "$wheels" "$name"
  done
  say "unpacking"
  local wheel
  for wheel in "$wheels"/*.whl; do
    case $wheel in
      */torch-* | */nvidia_cuda_runtime-* | */nvidia_cuda_cupti-*) unzip -q -o "$wheel" -d "$site" ;;
      *) unzip -q -o "$wheel" '*/include/*' -d "$site" ;;
    esac
  done
}

# packages_of FILES...: the libraries that they need and the machine may lack.
packages_of() {
  LD_LIBRARY_PATH=$site/torch/lib ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE "^$PWD/|/(ld-linux-x86-64|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s|gomp|cudart|cupti))\.so"
}

# build_kit: bin/ and lib/ of the kit.
build_kit() {
  [ -e "$site/torch/lib/libtorch_cuda.so" ] || get_wheels
  cmake --preset release -B build/gpu -DTRAINER_LIBTORCH="$site/torch" >/dev/null
  cmake --build build/gpu --target "${programs[@]}"
  local file
  for file in "${programs[@]}"; do strip -o "$kit/bin/$file" "build/gpu/bin/$file"; done
  for file in build/gpu/lib/libtrainer_*.so; do strip -o "$kit/lib/${file##*/}" "$file"; done
  packages_of "$kit"/bin/* "$kit"/lib/* | xargs -I{} cp -L {} "$kit/lib/"
}

# As it is: without its signature a Mac starts nothing, and strip would break that.
copy_macos_kit() {
  local packages=build/macos_packages file name missing
  for file in "${programs[@]}"; do cp "build/macos/bin/$file" "$kit/bin/"; done
  cp build/macos/lib/libtrainer_*.dylib "$packages"/torch/lib/lib{c10,omp,torch,torch_cpu}.dylib "$kit/lib/"
  cp -P "$packages"/lib/*.dylib "$kit/lib/"
  missing=$(for file in "$kit"/bin/* "$kit"/lib/*.dylib; do llvm-objdump --macho --dylibs-used "$file"; done |
    sed -n 's/^\t@[a-z_]*path\/\(.*\.dylib\) (.*/\1/p' | sort -u | while read -r name; do
      [ -e "$kit/lib/$name" ] || echo "$name"
    done)
  [ -z "$missing" ] || fail "the kit lacks ${missing//$'\n'/ }"
}

tree=build/gpu
[ "${1:-}" != macos ] || tree=build/macos
kit=$tree/kit
programs=(trainer bench_devices bench_step engine_tests core_tests end_to_end_tests)
rm -rf "$kit"
mkdir -p "$kit"/{bin,lib,scripts,bench,tests/golden,configs/data}
if [ "$tree" = build/macos ]; then copy_macos_kit; else build_kit; fi
cp -r bench/peers "$kit/bench/"
cp -r tests/golden "$kit/tests/"
cp configs/*.yaml "$kit/configs/"
cp configs/data/* "$kit/configs/data/" 2>/dev/null || true
cp scripts/gpu_check.sh "$kit/scripts/"
echo "$PWD/$tree" >"$kit/built_in"
# Below that folder, which there is the kit, tests look for the program.
mkdir "$kit/build"
ln -s .. "$kit/$tree"
# The tests that hold on every device, as tests/CMakeLists.txt runs them on the simulated ones.
sed -n '/string(CONCAT filter/,/)$/p' tests/CMakeLists.txt | grep -oE '"[^"]*"' | tr -d '"\n' >"$kit/device_tests"
tar czf "$tree/kit.tar.gz" -C "$tree" kit
say "$tree/kit.tar.gz, $(du -h "$tree/kit.tar.gz" | cut -f1)"
