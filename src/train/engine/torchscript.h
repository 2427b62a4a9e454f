// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/apply/export.h"

namespace trainer::engine {

/// Implements export_torchscript() of engine.h. May throw exceptions of LibTorch.
apply::ExportReport write_torchscript(const apply::Model& model,
                                      const apply::ExportOptions& options,
                                      const std::filesystem::path& path);

}  // namespace trainer::engine
