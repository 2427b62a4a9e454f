// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::checkpoint {

/// Whether a resume repeats the same steps, or continues differently because something has changed.
enum class Course { kSame, kOther };

/// Keeps what the run wrote after `from`, which was read from `file` in its folder, in a new folder
/// `superseded/1`, `superseded/2`, ... of the run: records of metrics.jsonl, checkpoints,
/// summary.json and report.html. The originals are not removed, so a crash loses nothing; files are
/// hard links if the file system supports them. Returns the new folder, or nothing if everything
/// later is kept already. On the same course, records after the last checkpoint of an unfinished
/// run are not kept, because the resume writes them again. Throws Error(kFileSystem).
std::optional<std::filesystem::path> keep_superseded(const run::RunDir& run, const Checkpoint& from,
                                                     const std::filesystem::path& file,
                                                     Course course);

}  // namespace trainer::checkpoint
