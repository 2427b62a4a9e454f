// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/tracking/run_entry.h"

namespace trainer::tracking {

/// Which runs may go. All rules that are given hold for each of them.
struct RemovalRules {
  std::optional<int64_t> keep_best = {};  // but for so many
  std::string sort = "best";              // by this name (tracking/query.h)
  std::optional<double> older_than = {};  // seconds since anything was written to them
};

/// Of `entries`, those that the rules let go, in their order; never one that is running. Throws
/// Error(kUsage) as sort_entries() does.
std::vector<RunEntry> removable(const std::vector<RunEntry>& entries, const RemovalRules& rules);

/// What the files of a folder take on disk.
uint64_t bytes_in(const std::filesystem::path& folder);

}  // namespace trainer::tracking
