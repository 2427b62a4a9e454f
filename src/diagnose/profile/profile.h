// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/nn/spec/spec.h"

namespace trainer::profile {

/// Returns the names of the linear layers. Layer i of a timeline, counted from 1, is element i - 1.
std::vector<std::string> layer_names(const network::NetworkSpec& network);

}  // namespace trainer::profile
