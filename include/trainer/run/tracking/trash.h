// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
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

}  // namespace trainer::tracking
