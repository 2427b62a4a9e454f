// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/apply/export.h"

namespace trainer::cli {

enum class ExportFormat { kOnnx, kSafetensors, kTorchscript };

/// What `trainer export` is to make of a model.
struct ExportArguments {
  std::filesystem::path output;
  ExportFormat format = ExportFormat::kOnnx;
  apply::ExportOptions options;
};

/// The words of the command line.
struct ExportWords {
  std::string output;
  std::string format;
  bool softmax = false;
  bool preprocessing = false;
};

/// Adds what is wrong to `problems`.
ExportArguments understand_export(const ExportWords& words, std::vector<std::string>& problems);

}  // namespace trainer::cli
