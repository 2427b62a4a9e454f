// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "trainer/tracking/run_entry.h"

// Runs that were removed are in the folder `.trash` beside the others until they are purged, so
// that a mistake can be undone. What was not finished, because the process was killed or the disk
// failed, the next call for the same folder completes.
namespace trainer::tracking {

/// Where the runs of the folder `parent` go.
std::filesystem::path trash_of(const std::filesystem::path& parent);

/// The runs in the trash of the folder `parent`, the newest first.
std::vector<RunEntry> removed_entries(const std::filesystem::path& parent);

/// Moves the folder of a run to the trash beside it, and returns where it is now: under its name,
/// or "NAME_2" if one of that name is there. `latest` beside it points to the newest other run
/// then. Throws Error(kFileSystem), also if a process works on it; then it is where it was.
std::filesystem::path remove_run(const std::filesystem::path& folder);

/// Moves a run in a trash back to the folder beside the trash, and returns where it is now. Throws
/// Error(kFileSystem), also if there is something of that name; then it is where it was.
std::filesystem::path restore_run(const std::filesystem::path& removed);

/// Deletes a run in a trash for good. Throws Error(kFileSystem).
void purge_run(const std::filesystem::path& removed);

/// Deletes what calls for the folder `parent` have left, and points `latest` to the newest run if
/// it points to none. Throws Error(kFileSystem).
void finish_removals(const std::filesystem::path& parent);

}  // namespace trainer::tracking
