// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>

#include "trainer/base/io/made_folders.h"

namespace trainer::run {

/// The folder of a run, and the paths of the files in it.
struct RunDir {
  std::filesystem::path root;

  std::filesystem::path config() const { return root / "config_resolved.yaml"; }
  std::filesystem::path system() const { return root / "system.json"; }
  std::filesystem::path metrics() const { return root / "metrics.jsonl"; }
  std::filesystem::path summary() const { return root / "summary.json"; }
  std::filesystem::path report() const { return root / "report.html"; }
  std::filesystem::path tensorboard() const { return root / "tensorboard"; }
  std::filesystem::path timing() const { return root / "timing.json"; }
  std::filesystem::path note() const { return root / "note.txt"; }
  std::filesystem::path log() const { return root / "train.log"; }
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }
};

// The files that a cross-validation or an ensemble writes to the folder of its run folders.
inline constexpr const char* kCrossValidationFile = "cv.json";
inline constexpr const char* kEnsembleFile = "ensemble.json";

/// Returns the name of a run folder: "YYYYMMDD_HHMMSS" in local time, followed by "_tag" unless the
/// tag is empty.
std::string run_name(const std::string& tag, std::time_t now);

/// Creates a new folder `parent`/`name`, with _2, _3, ... appended if the name exists. The end of
/// the scope removes the folder, and the parents that were created for it, if they are still empty.
class NewFolder {
 public:
  /// Creates the folder. Throws Error(kFileSystem); then nothing has been created.
  NewFolder(const std::filesystem::path& parent, const std::string& name);

  const std::filesystem::path& path() const { return path_; }

 private:
  MadeFolders made_;
  std::filesystem::path path_;
};

/// Creates `parent`/YYYYMMDD_HHMMSS[_tag], in local time, with its `checkpoints` folder. If the
/// name exists, appends _2, _3, ...; an existing folder is never reused. Throws Error(kFileSystem);
/// then nothing has been created.
RunDir create_run_dir(const std::filesystem::path& parent, const std::string& tag, std::time_t now);

/// Throws Error(kFileSystem) if the file system of `folder`, which need not exist yet, lacks space
/// for `num_checkpoints` files of `checkpoint_bytes` bytes.
void check_free_space(const std::filesystem::path& folder, uint64_t checkpoint_bytes,
                      int64_t num_checkpoints);

/// Makes the symbolic link `latest` beside the run folder point to it. A file system without links
/// is no error.
void point_latest_to(const RunDir& run);

/// Returns the run folder that contains a checkpoint file, or an empty path if no run folder does.
std::filesystem::path find_run_dir(const std::filesystem::path& checkpoint);

}  // namespace trainer::run
