// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "trainer/apply/export.h"

namespace trainer::onnx_export {

/// Computes the output of that name of random rows with ONNX Runtime and the file `bytes`, which
/// will be at `path`, and compares it with what this program computes. Returns what was done, in a
/// line; there may be no library. Throws Error(kRuntime) for another output or a file that it
/// refuses, Error(kUsage).
std::string try_in_runtime(const apply::Model& model, const apply::ExportOptions& options,
                           const std::string& bytes, const std::string& output,
                           const std::filesystem::path& path);

}  // namespace trainer::onnx_export
