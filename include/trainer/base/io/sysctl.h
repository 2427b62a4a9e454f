// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer {

/// The text that macOS has under a sysctl name such as "kern.osproductversion"; empty if there is
/// none, and on other systems.
std::string sysctl_text(const char* name);

}  // namespace trainer
