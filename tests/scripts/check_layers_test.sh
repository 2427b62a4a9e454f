#!/usr/bin/env bash
# Proves that scripts/check_layers.py accepts a house in order and names each thing that is not.
# Usage: tests/scripts/check_layers_test.sh
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

expect() {  # expect NAME STATUS TEXT: what the check says about the house, whole
  expect_of "$@" "$root/scripts/check_layers.py" "$house"
}

layers="core data run apply onnx_export model engine cli"
build_house() {
  rm -rf "${house:?}"/*
  put src/CMakeLists.txt 'set(core_layers core data run' '    apply)' 'set(onnx_layers onnx_export)' \
    'set(engine_layers model engine)' 'set(program_layers cli)'
  for layer in $layers; do
    put "include/trainer/$layer/$layer.h" "#pragma once"
  done
  put src/data/data.cpp '#include "trainer/data/data.h"' '#include "trainer/core/core.h"'
  put src/model/model.cpp '#include <ATen/core/Tensor.h>' '#include "trainer/data/data.h"'
  put src/main.cpp '#include "trainer/engine/engine.h"'
}

build_house
expect "a house in order" 0 "layers: 11 files in order"

build_house
put src/run/direct.cpp '#include <torch/types.h>'
put src/cli/through.cpp '#include "trainer/engine/engine.h"'
put include/trainer/engine/engine.h '#include "trainer/model/model.h"'
put include/trainer/model/model.h '#include <ATen/ATen.h>'
expect "LibTorch in the half without it, directly and through headers" 1 \
  "src/cli/through.cpp:1: layer cli must stay without LibTorch, but includes trainer/engine/engine.h -> trainer/model/model.h -> ATen/ATen.h
src/main.cpp:1: layer cli must stay without LibTorch, but includes trainer/engine/engine.h -> trainer/model/model.h -> ATen/ATen.h
src/run/direct.cpp:1: layer run must stay without LibTorch, but includes torch/types.h"

build_house
put src/misc/misc.cpp ''
expect "a folder that is no layer" 1 \
  "src/misc/misc.cpp:1: folder misc is not among the layers of src/CMakeLists.txt"

build_house
put src/onnx_export/graph.cpp '#include <onnx/onnx_pb.h>' '#include "trainer/core/core.h"'
put src/apply/file.cpp '#include <onnx/checker.h>'
expect "ONNX outside of its layer" 1 \
  "src/apply/file.cpp:1: layer apply must stay without ONNX, but includes onnx/checker.h"

build_house
put src/cli/parser.cpp '#include <CLI/CLI.hpp>'
put src/cli/second.cpp '#include <CLI/App.hpp>'
expect "CLI11 outside of its file" 1 \
  "src/cli/second.cpp:1: only src/cli/parser.cpp includes CLI11; describe options as cli/option.h does"

build_house
yes '//' | head -n 251 >"$house/include/trainer/core/long.h" || true
expect "a header that is long" 0 \
  "advice: include/trainer/core/long.h has 251 lines; does it have one subject?
layers: 12 files in order"

finish
