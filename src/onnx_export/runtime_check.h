// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trainer/apply/export.h"

namespace trainer::onnx_export {

/// Computes the outputs with the names `outputs` for random rows with ONNX Runtime, from the
/// content `bytes` of a file that will be at `path`, and compares them with the results of this
/// program. Returns a line that says what was compared, or that ONNX Runtime was not found. Throws
/// Error(kRuntime) if the outputs differ or ONNX Runtime rejects the file, Error(kUsage) as
/// run_with_runtime().
std::string try_in_runtime(const apply::Model& model, const apply::ExportOptions& options,
                           const std::string& bytes, const std::vector<std::string>& outputs,
                           const std::filesystem::path& path);

/// An input of an ONNX file with its values `[num_rows, width]`.
struct RuntimeInput {
  std::string name;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::string>> values;
};

/// The outputs that ONNX Runtime has computed, and its version.
struct RuntimeAnswer {
  std::string version;
  std::vector<std::vector<double>> values;  // [outputs][num_rows * width]
};

/// Runs an ONNX file, whose bytes are `model`, with ONNX Runtime for `num_rows` rows and returns
/// the outputs with the names `outputs`; nothing if the library is not found. Throws Error(kUsage)
/// if TRAINER_ONNXRUNTIME_LIBRARY names a file that cannot be opened or is another library,
/// std::runtime_error with the message of ONNX Runtime for a file that it rejects.
std::optional<RuntimeAnswer> run_with_runtime(const std::string& model,
                                              const std::vector<RuntimeInput>& inputs,
                                              int64_t num_rows,
                                              const std::vector<std::string>& outputs);

}  // namespace trainer::onnx_export
