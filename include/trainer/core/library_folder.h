// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trainer {

/// The folder of this program's libraries, in the build tree or where they are installed; empty
/// if the system does not know it.
std::filesystem::path library_folder();

}  // namespace trainer
