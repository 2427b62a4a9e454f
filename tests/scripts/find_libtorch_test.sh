#!/usr/bin/env bash
# Proves where src/find_libtorch.cmake finds LibTorch, and what it and scripts/try_libtorch.cmake say of one that does not
# fit, with small libraries that stand for LibTorch's: nothing is installed, and none of this machine is used.
# Usage: tests/scripts/find_libtorch_test.sh
# shellcheck disable=SC2016  # the texts of scripts
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

# A project that finds LibTorch and says so; with a compiler it also tries it.
make_project() {  # make_project FOLDER LANGUAGE
  put "$1/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)" "project(probe LANGUAGES $2)" \
    "set(CMAKE_CXX_STANDARD 20)" \
    "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)" "include($root/src/find_libtorch.cmake)" \
    "$([ "$2" = NONE ] || printf 'include(%s/scripts/try_libtorch.cmake)' "$root")" \
    'message("found ${Torch_VERSION} from ${TRAINER_LIBTORCH_ORIGIN} in ${Torch_DIR} ${TRAINER_LIBTORCH_PARTS}")'
}
make_libtorch() {  # make_libtorch FOLDER VERSION: its files, without anything inside
  put "$1/lib/libtorch_cpu.so" ""
  put "$1/lib/libc10.so" ""
  put "$1/include/ATen/ATen.h" ""
  put "$1/version.py" "__version__ = '$2+cpu'"
}

# The PATH: CMake, a Python that tells a folder, or has no pip, and what the scripts call.
mkdir "$house/bin"
for name in bash basename cmake dirname env grep ninja make sed cat mkdir rm; do
  [ -z "$(command -v $name)" ] || ln -s "$(command -v $name)" "$house/bin/$name"
done
put bin/python3 '#!/bin/sh' 'case "$1 $2" in "-c import sys;"*) echo "$PYTHON_FOLDERS" ;; *) exit 1 ;; esac'
chmod +x "$house/bin/python3"

configure() {  # configure [NAME=VALUE...] -- [OPTION...]: the first line that says what was found, or what is wrong
  local settings=() words status=0
  while [ "$1" != -- ]; do
    settings+=("$1")
    shift
  done
  shift
  words=$(cd "$house/project" && env -i PATH="$house/bin" HOME="$house" "${settings[@]}" \
    cmake -S . -B build "$@" 2>&1) || status=$?
  printf '%s' "$words" >"$house/log"
  words=$(tr -s ' \n' ' ' <<<"$words")
  case $words in
    *"CMake Error"*) sed -E -e 's/.*CMake Error at [^ ]* \(message\): (.*)/\1/' \
      -e 's/ (Call Stack|-- Configuring).*//' <<<"$words" ;;
    *"CMake Warning"*) sed -E 's/.*\(message\): (.*) Call Stack.*(found .*) -- Configuring.*/\1 \2/' <<<"$words" ;;
    *) sed -E 's/.*(found .*) -- Configuring.*/\1/' <<<"$words" ;;
  esac
}
expect() {  # expect NAME TEXT [NAME=VALUE...] -- [OPTION...]: in a new build folder
  rm -rf "$house/project/build"
  expect_again "$@"
}
expect_again() {
  local name=$1 text=$2
  shift 2
  report "$name" "$text" "$(configure "$@" | sed -e "s|$house|HOUSE|g" -e "s|$root|ROOT|g" -e 's/ *$//')"
}

make_project project NONE
make_libtorch one/torch 2.1.0
make_libtorch two/torch 2.2.0
make_libtorch venv/lib/python3.99/site-packages/torch 2.3.0
make_libtorch conda 2.4.0
make_libtorch python/torch 2.5.0
make_libtorch old/torch 1.12.1
put package/share/cmake/Torch/TorchConfig.cmake 'set(Torch_FOUND ON)' 'set(Torch_VERSION 2.6.0)'
put empty/lib/something.so ""

by_variable="found 2.1.0 from TRAINER_LIBTORCH in HOUSE/one/torch"
venv=VIRTUAL_ENV=$house/venv conda=CONDA_PREFIX=$house/conda python=PYTHON_FOLDERS="/nowhere;$house/python"
expect "the variable of CMake comes first" "$by_variable" \
  TRAINER_LIBTORCH="$house/two/torch" "$venv" -- -DTRAINER_LIBTORCH="$house/one/torch" \
  -DCMAKE_PREFIX_PATH="$house/package"
expect_again "a build folder keeps it" "$by_variable" "$venv" --
expect_again "until it is set anew" "found 2.2.0 from TRAINER_LIBTORCH in HOUSE/two/torch" -- \
  -DTRAINER_LIBTORCH=../two/torch
package="found 2.6.0 from Torch_DIR or CMAKE_PREFIX_PATH in HOUSE/package/share/cmake/Torch"
expect "then CMake's own variables" "$package" \
  TRAINER_LIBTORCH="$house/two/torch" "$venv" -- -DCMAKE_PREFIX_PATH="$house/package"
expect "Torch_DIR too" "$package" "$venv" -- -DTorch_DIR="$house/package/share/cmake/Torch"
by_environment="found 2.2.0 from TRAINER_LIBTORCH in the environment in HOUSE/two/torch"
expect "then the environment" "$by_environment" TRAINER_LIBTORCH="$house/two/torch" "$venv" --
expect_again "which a build folder keeps" "$by_environment" "$venv" --
by_venv="found 2.3.0 from the environment that VIRTUAL_ENV names in HOUSE/venv/lib/python3.99/site-packages/torch"
expect_again "until it is told to look again" "$by_venv" "$venv" -- -DTRAINER_LIBTORCH= -UTorch_DIR
expect "then an active environment" "$by_venv" "$venv" "$conda" "$python" --
expect "of conda" "found 2.4.0 from the environment that CONDA_PREFIX names in HOUSE/conda" "$conda" "$python" --
expect "at last the wheel of a Python" "found 2.5.0 from a wheel that Python would import in HOUSE/python/torch" \
  "$python" --
expect "none at all" "There is no LibTorch here: install one (Debian, Ubuntu: libtorch-dev; macOS: brew install pytorch), \
name its folder with -DTRAINER_LIBTORCH=DIR, or have the newest PyTorch wheel brought with -DTRAINER_LIBTORCH=wheel. \
-DTRAINER_ENGINE=OFF builds what needs none." --
expect "a folder without LibTorch" "TRAINER_LIBTORCH=HOUSE/empty: expected a folder with lib/libtorch_cpu.so and \
include/ATen (torch of a PyTorch wheel, an unpacked LibTorch, a conda environment) or \"wheel\"" -- \
  -DTRAINER_LIBTORCH="$house/empty"
expect "one that is too old" "LibTorch 1.12.1 in HOUSE/old/torch is too old: expected 1.13 or newer" -- \
  -DTRAINER_LIBTORCH="$house/old/torch"

# get_libtorch.sh belongs to the project.
mkdir "$house/project/scripts"
cp "$root"/scripts/{get_libtorch,common}.sh "$house/project/scripts"
expect "a wheel without pip" "TRAINER_LIBTORCH=wheel: get_libtorch: a wheel is installed by pip, which no Python here has \
(Debian, Ubuntu: apt-get install python3-pip); or TRAINER_LIBTORCH=DIR names a LibTorch that is there" \
  TRAINER_LIBTORCH=wheel --
put bin/python3 '#!/bin/sh' '[ "$3" = --version ]'
expect "a wheel without network" "TRAINER_LIBTORCH=wheel: get_libtorch: pip could not install --no-deps torch (no network, \
or no wheel for this machine); full output: build/libtorch.log" TRAINER_LIBTORCH=wheel --

# Small libraries with the functions that are called, and others that these need.
if ! command -v g++ >/dev/null; then
  skip "a LibTorch that does not fit" "g++"
  finish
  exit
fi
for name in g++ cc as ld ar ranlib; do
  [ -z "$(command -v $name)" ] || ln -sf "$(command -v $name)" "$house/bin/$name"
done
make_project project CXX
fake=$house/fake/torch
make_libtorch fake/torch 2.7.0
put fake/torch/include/ATen/Version.h '#include <string>' 'namespace at { std::string show_config(); }'
put fake/torch/include/ATen/core/Tensor.h '#pragma once' '#include <initializer_list>' 'namespace at {' \
  'struct Tensor { Tensor add(const Tensor&) const; Tensor sum() const; template <class T> T item() const; };' \
  'template <> float Tensor::item<float>() const;' 'Tensor ones(std::initializer_list<int>);' '}'
put fake/torch/include/ATen/ops/ones.h '#pragma once'
put fake.cpp '#include <ATen/Version.h>' '#include <ATen/core/Tensor.h>' 'namespace at {' \
  'Tensor Tensor::add(const Tensor&) const { return *this; }' 'Tensor Tensor::sum() const { return *this; }' \
  'template <> float Tensor::item<float>() const { return RESULT; }' \
  'Tensor ones(std::initializer_list<int>) { return {}; }' \
  'std::string show_config() { return "BLAS_INFO=mkl, "; }' '}'
put nothing.cpp ''
make_library() {  # make_library NAME [SOURCE [OPTION...]]
  g++ -shared -fPIC -o "$fake/lib/$1" -I"$fake/include" "-Wl,-rpath,\$ORIGIN" -Wl,--no-as-needed \
    "-Wl,-soname,$1" "$house/${2:-nothing.cpp}" "${@:3}"
}
make_library libc10.so
make_library libgomp.so.1
make_library libiomp5.so
fit() { make_library libtorch_cpu.so fake.cpp -L"$fake/lib" "$@"; }
where="LibTorch 2.7.0 in HOUSE/fake/torch"
another="take another one: TRAINER_LIBTORCH=DIR, or TRAINER_LIBTORCH=wheel for the newest PyTorch wheel"
libtorch=-DTRAINER_LIBTORCH=$fake
found="found 2.7.0 from TRAINER_LIBTORCH in HOUSE/fake/torch BLAS mkl, inside LibTorch; OpenMP"

fit -DRESULT=4 -l:libgomp.so.1
expect "one that adds" "$found HOUSE/fake/torch/lib/libgomp.so.1" -- "$libtorch"
fit -DRESULT=4 -l:libgomp.so.1 -l:libiomp5.so
expect "two OpenMP runtimes" "$where brings two OpenMP runtimes into one process (HOUSE/fake/torch/lib/libgomp.so.1 \
HOUSE/fake/torch/lib/libiomp5.so), which can end it or make it slow: remove one of the packages that they are from, or \
$another $found HOUSE/fake/torch/lib/libgomp.so.1 HOUSE/fake/torch/lib/libiomp5.so" -- "$libtorch"
make_library libcupti.so.13
fit -DRESULT=4 -l:libcupti.so.13
rm "$fake/lib/libcupti.so.13"
expect "a library is missing" "$where needs libcupti.so.13, which is not found: install what brings it (of CUDA: pip install \
nvidia-cuda-runtime nvidia-cuda-cupti), or $another" -- "$libtorch"
fit -DRESULT=5
expect "one that adds wrongly" "$where cannot add two tensors here (status 3): $another" -- "$libtorch"
fit -DRESULT=4 -D_GLIBCXX_USE_CXX11_ABI=0
expect "another C++ ABI" "$where was built for another C++ ABI (that of wheels before 2.7) than this compiler's: $another" \
  -- "$libtorch"
finish
