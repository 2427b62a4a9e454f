// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/apply/export.h"

namespace trainer::engine {

/// export_torchscript(), which may throw exceptions of LibTorch.
apply::ExportReport write_torchscript(const apply::Model& model,
                                      const apply::ExportOptions& options,
                                      const std::filesystem::path& path);

}  // namespace trainer::engine
