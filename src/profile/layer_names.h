// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/network/spec.h"

namespace trainer::profile {

/// The names of the linear layers; a timeline's layer i is element i - 1.
std::vector<std::string> layer_names(const network::NetworkSpec& network);

}  // namespace trainer::profile
