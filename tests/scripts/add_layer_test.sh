#!/usr/bin/env bash
# Proves that the compiler holds the layers apart (src/add_layer.cmake): a layer compiles with the
# headers that it may see, and not with others.
# Usage: tests/scripts/add_layer_test.sh
# shellcheck disable=SC2016  # variables of CMake
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

expect() {  # expect NAME STATUS TEXT: how the build of the house ends, and what it says
  local said status=0
  said=$(cmake --build "$house/build" --clean-first 2>&1) || status=$?
  [[ "$said" == *"$3"* ]] && said=$3
  report "$1" "status $2: $3" "status $((status != 0)): $said"
}

layers="low middle high side"
put CMakeLists.txt 'cmake_minimum_required(VERSION 3.22)' 'project(house LANGUAGES CXX)' \
  'foreach(package trainer_options fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json)' \
  '  add_library(${package} INTERFACE IMPORTED)' 'endforeach()' "include($root/src/add_layer.cmake)" \
  "foreach(layer $layers)" '  add_subdirectory(src/${layer})' 'endforeach()'
for layer in $layers; do
  put "include/trainer/$layer/$layer.h" "#pragma once" "int $layer();"
  put "src/$layer/private.h" "#pragma once"
  put "src/$layer/file.cpp" "#include \"trainer/$layer/$layer.h\"" "#include \"$layer/private.h\""
done
put src/low/CMakeLists.txt 'add_layer(low SOURCES file.cpp)'
put src/middle/CMakeLists.txt 'add_layer(middle SEES low SOURCES file.cpp)'
put src/high/CMakeLists.txt 'add_layer(high SEES middle OPENS side SOURCES file.cpp)'
put src/side/CMakeLists.txt 'add_layer(side SOURCES file.cpp)'
cmake -S "$house" -B "$house/build" -G Ninja >/dev/null
expect "each layer sees itself" 0 ""

put src/high/file.cpp '#include "trainer/middle/middle.h"' '#include "trainer/low/low.h"' \
  '#include "trainer/side/side.h"'
expect "a layer sees those below it, and one that it opens" 0 ""

put src/high/file.cpp '#include "middle/private.h"'
expect "no private header of another layer" 1 "middle/private.h"
put src/high/file.cpp ''

put src/low/file.cpp '#include "trainer/middle/middle.h"'
expect "no layer above" 1 "trainer/middle/middle.h"
put src/low/file.cpp ''

put src/middle/file.cpp '#include "trainer/side/side.h"'
expect "no layer beside" 1 "trainer/side/side.h"
put src/middle/file.cpp ''

put src/high/file.cpp '#include "trainer/side/side.h"'
sed -i.old 's/ side)$/)/' "$house/CMakeLists.txt"
rm -r "$house/build/layers"
expect "a layer that it opens need not be built" 0 ""

finish
