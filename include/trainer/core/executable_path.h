// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trainer {

/// The file of the program that runs. Throws Error(kRuntime) when the system does not tell.
std::filesystem::path executable_path();

}  // namespace trainer
