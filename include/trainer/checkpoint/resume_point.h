// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/core/folder_lock.h"

namespace trainer::config {
struct Config;
}

namespace trainer::checkpoint {

/// Where a run is to go on: a checkpoint that was read, and its file.
struct ResumePoint {
  std::filesystem::path file;
  Checkpoint checkpoint;
  std::shared_ptr<FolderLock> lock;  // of the run folder that the file lies in, if in any
};

/// Whether the run folder is to be written: then no other process may work in it.
enum class OpenMode { kReadOnly, kResume };

/// The checkpoint that `given` means: a file (see find_checkpoint), or the newest good one of
/// a run folder, with a warning for each newer one that is damaged.
/// Throws Error(kCheckpoint) when there is none, Error(kFileSystem) when another process works in
/// the run folder.
ResumePoint open_checkpoint(const std::filesystem::path& given, OpenMode mode);

/// The newest good checkpoint of the runs in `output_dir` whose tag and configuration are those of
/// `config`, but for keys that a resume may change; nothing when there is none. Throws as
/// open_checkpoint() does when another process works in the folder of that run.
std::optional<ResumePoint> find_same_run(const std::filesystem::path& output_dir,
                                         const config::Config& config, OpenMode mode);

/// The folder of such a run that another process works in, before its first checkpoint too; empty
/// when there is none.
std::filesystem::path find_same_run_at_work(const std::filesystem::path& output_dir,
                                            const config::Config& config);

}  // namespace trainer::checkpoint
