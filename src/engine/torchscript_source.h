// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/apply/export.h"

namespace trainer::engine {

/// The text of `scores(self, x)` in TorchScript's Python: the layers, for nested modules with the
/// names of the network's tensors: `self.layers` has a module "0" with a `weight`.
std::string scores_source(const network::NetworkSpec& network);

/// The text of `forward(self, features)`, for a module that has `scores`, or of an ensemble the
/// modules "0", "1", ... of `self.members`, which have it.
std::string forward_source(const apply::Model& model, apply::ExportOutputs outputs);

}  // namespace trainer::engine
