// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "launch/wait.h"

namespace trainer::launch {

/// Returns the text of rank 0, shared through files in `folder`, which is created for that and
/// removed afterwards. Throws Error(kDevice) after the time of `wait`, Error(kFileSystem) if the
/// folder cannot be written.
std::string share_by_folder(const Wait& wait, const std::filesystem::path& folder,
                            const std::string& text);

}  // namespace trainer::launch
