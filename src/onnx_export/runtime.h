// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace trainer::onnx_export {

/// An input of a file: its values `[num_rows, width]`.
struct RuntimeInput {
  std::string name;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::string>> values;
};

/// What ONNX Runtime has computed.
struct RuntimeAnswer {
  std::string version;
  std::vector<double> values;  // [num_rows, width]
};

/// Runs the file `model` with ONNX Runtime for `num_rows` rows and returns the output of that name;
/// nothing where its library is not found. Throws Error(kUsage) for a
/// TRAINER_ONNXRUNTIME_LIBRARY that cannot be opened or is none, std::runtime_error with the
/// library's own words for a file that it refuses.
std::optional<RuntimeAnswer> run_with_runtime(const std::string& model,
                                              const std::vector<RuntimeInput>& inputs,
                                              int64_t num_rows, const std::string& output);

}  // namespace trainer::onnx_export
