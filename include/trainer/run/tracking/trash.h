// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/run/tracking/run_entry.h"

// Removed runs are kept in the folder `.trash` beside the others until they are purged, so that a
// mistake can be undone. If a call did not finish, because the process was killed or the disk
// failed, the next call for the same folder completes it.

namespace trainer::tracking {

/// Returns the folder to which removed runs of the folder `parent` are moved.
std::filesystem::path trash_of(const std::filesystem::path& parent);

/// Returns the runs in the trash of the folder `parent`, the newest first.
std::vector<RunEntry> removed_entries(const std::filesystem::path& parent);

/// Moves the folder of a run to the trash beside it, and returns its new path; its name becomes
/// "NAME_2" if the trash has that name already. If `latest` pointed to it, `latest` then points to
/// the newest remaining run. Throws Error(kFileSystem), also if a process works on the run; then
/// nothing has changed.
std::filesystem::path remove_run(const std::filesystem::path& folder);

/// Moves a run from a trash back to the folder beside the trash, and returns its new path. Throws
/// Error(kFileSystem), also if the name is taken there; then nothing has changed.
std::filesystem::path restore_run(const std::filesystem::path& removed);

/// Deletes a run in a trash for good. Throws Error(kFileSystem).
void purge_run(const std::filesystem::path& removed);

/// Deletes what unfinished calls for the folder `parent` have left, and points `latest` to the
/// newest run if its target is gone. Throws Error(kFileSystem).
void finish_removals(const std::filesystem::path& parent);

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
