// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trainer {

/// The path of the running program. Throws Error(kRuntime) if the system does not know it.
std::filesystem::path executable_path();

}  // namespace trainer
