// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer {

/// What macOS tells under a name such as "kern.osproductversion"; empty if it knows none, and on
/// other systems.
std::string sysctl_text(const char* name);

}  // namespace trainer
