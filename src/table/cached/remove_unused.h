// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace trainer::cache {

/// Removes the caches in `folder` that no run has used for 30 days, and nothing else; those that
/// are in use now or cannot be removed stay. Returns "removed 2 that were not used for 30 days (1.9
/// GiB)", or nothing if there were none.
std::string remove_unused(const std::filesystem::path& folder);

}  // namespace trainer::cache
