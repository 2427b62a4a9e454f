// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "trainer/base/io/folder_lock.h"
#include "trainer/run/checkpoint/checkpoint.h"

namespace trainer::config {
struct Config;
}

namespace trainer::checkpoint {

/// The point from which a run continues: a checkpoint and the file that it was read from.
struct ResumePoint {
  std::filesystem::path file;
  Checkpoint checkpoint;
  std::shared_ptr<FolderLock> lock;  // locks the run folder that contains the file, if any
};

/// Whether the run folder will be written. Then it is locked against other processes.
enum class OpenMode { kReadOnly, kResume };

/// Reads the checkpoint that a user has given: a file (see find_checkpoint()), or the newest
/// readable one of a run folder, with a warning for each newer one that is damaged. Throws
/// Error(kCheckpoint) if there is none, Error(kFileSystem) if another process uses the run folder.
ResumePoint open_checkpoint(const std::filesystem::path& given, OpenMode mode);

/// Returns the newest readable checkpoint of the runs in `output_dir` whose tag and configuration
/// equal those of `config`, except for keys that a resume may change; nothing if there is none.
/// Throws Error(kFileSystem) if another process uses the folder of that run.
std::optional<ResumePoint> find_same_run(const std::filesystem::path& output_dir,
                                         const config::Config& config, OpenMode mode);

/// Returns the folder of such a run that another process uses, even before its first checkpoint;
/// empty if there is none.
std::filesystem::path find_same_run_at_work(const std::filesystem::path& output_dir,
                                            const config::Config& config);

/// Finds the checkpoint file that a user has given: a file; a run folder (its newest checkpoint,
/// last.pt); or the short form `<run>/best.pt` of `<run>/checkpoints/best.pt`. If there is none,
/// throws Error(kCheckpoint), which lists the available checkpoints.
std::filesystem::path find_checkpoint(const std::filesystem::path& given);

}  // namespace trainer::checkpoint
