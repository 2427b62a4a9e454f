// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/apply/export.h"

namespace trainer::engine {

/// The text of `forward(self, features)` in TorchScript's Python, for nested modules with the
/// names of the model's tensors: `self.layers` has a module "0" with a `weight`.
std::string forward_source(const apply::Model& model, apply::ExportOutputs outputs);

}  // namespace trainer::engine
