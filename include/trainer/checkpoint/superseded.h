// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/run/run_dir.h"

namespace trainer::checkpoint {

/// Whether a resume goes the same way again, or another one.
enum class Course { kSame, kOther };

/// Copies what the run did after `from`, read from `file` in its folder, to a new folder
/// `superseded/1`, `superseded/2`, ... of the run: records of metrics.jsonl, checkpoints,
/// summary.json and report.html. Nothing is taken away, so that it is safe at every moment, and
/// files share their bytes where the file system has hard links. Returns the new folder, or nothing
/// where there is nothing later that is not kept already. What the last checkpoint does not know of
/// an unfinished run is done again on the same course, and not kept. Throws Error(kFileSystem).
std::optional<std::filesystem::path> keep_superseded(const run::RunDir& run, const Checkpoint& from,
                                                     const std::filesystem::path& file,
                                                     Course course);

}  // namespace trainer::checkpoint
