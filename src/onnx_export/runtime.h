// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace trainer::onnx_export {

/// An input of an ONNX file with its values `[num_rows, width]`.
struct RuntimeInput {
  std::string name;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::string>> values;
};

/// The output that ONNX Runtime has computed, and its version.
struct RuntimeAnswer {
  std::string version;
  std::vector<double> values;  // [num_rows, width]
};

/// Runs an ONNX file, whose bytes are `model`, with ONNX Runtime for `num_rows` rows and returns
/// the output with the name `output`; nothing if the library is not found. Throws Error(kUsage) if
/// TRAINER_ONNXRUNTIME_LIBRARY names a file that cannot be opened or is another library,
/// std::runtime_error with the message of ONNX Runtime for a file that it rejects.
std::optional<RuntimeAnswer> run_with_runtime(const std::string& model,
                                              const std::vector<RuntimeInput>& inputs,
                                              int64_t num_rows, const std::string& output);

}  // namespace trainer::onnx_export
