// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/run/tracking/run_entry.h"

namespace trainer::tracking {

/// Which runs may be removed: those for which all given rules are true.
struct RemovalRules {
  std::optional<int64_t> keep_best = {};  // not among so many best ones
  std::string sort = "best";              // the name that orders them (run/tracking/query.h)
  std::optional<double> older_than = {};  // seconds since their files have changed
};

/// Returns the entries that may be removed, in their order; never one that is running. Throws the
/// errors of sort_entries(), and Error(kUsage) if keep_best is above 0 and a run has no value to
/// sort by.
std::vector<RunEntry> removable(const std::vector<RunEntry>& entries, const RemovalRules& rules);

/// Returns the size of all files in a folder, in bytes. A file with n hard links counts 1/n for
/// each.
uint64_t bytes_in(const std::filesystem::path& folder);

}  // namespace trainer::tracking
