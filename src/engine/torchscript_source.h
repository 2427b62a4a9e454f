// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/apply/export.h"

namespace trainer::engine {

/// The text of `forward(self, features)` in TorchScript's Python, for modules within modules that
/// are named as the model's tensors are: `self.layers`, of which "0" has a `weight`.
std::string forward_source(const apply::Model& model, apply::ExportOutputs outputs);

}  // namespace trainer::engine
