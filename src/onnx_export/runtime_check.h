// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "trainer/apply/export.h"

namespace trainer::onnx_export {

/// Computes the output with the name `output` for random rows with ONNX Runtime, from the content
/// `bytes` of a file that will be at `path`, and compares it with the results of this program.
/// Returns a line that says what was compared, or that ONNX Runtime was not found. Throws
/// Error(kRuntime) if the outputs differ or ONNX Runtime rejects the file, Error(kUsage) as
/// run_with_runtime().
std::string try_in_runtime(const apply::Model& model, const apply::ExportOptions& options,
                           const std::string& bytes, const std::string& output,
                           const std::filesystem::path& path);

}  // namespace trainer::onnx_export
