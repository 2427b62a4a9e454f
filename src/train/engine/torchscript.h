// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "trainer/apply/export.h"

namespace trainer::engine {

/// Implements export_torchscript() of engine.h. May throw exceptions of LibTorch.
apply::ExportReport write_torchscript(const apply::Model& model,
                                      const apply::ExportOptions& options,
                                      const std::filesystem::path& path);

/// Returns the TorchScript code of `scores(self, x)`, which computes the layers. It expects nested
/// modules with the names of the network's tensors: `self.layers` has a module "0" with a `weight`.
std::string scores_source(const network::NetworkSpec& network);

/// Returns the TorchScript code of `forward(self, features)`. The module must have the method
/// `scores`; for an ensemble, its members "0", "1", ... of `self.members` must have it.
std::string forward_source(const apply::Model& model, apply::ExportOutputs outputs);

}  // namespace trainer::engine
