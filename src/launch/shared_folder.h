// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "launch/wait.h"

namespace trainer::launch {

/// The text of rank 0 by files in `folder`, which is made for that and removed. Throws
/// Error(kDevice) after the time of `wait`, Error(kFileSystem) if it cannot write there.
std::string share_by_folder(const Wait& wait, const std::filesystem::path& folder,
                            const std::string& text);

}  // namespace trainer::launch
