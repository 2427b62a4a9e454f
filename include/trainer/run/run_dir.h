// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace trainer::run {

/// The folder of one run and the paths in it.
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

// What a cross-validation or an ensemble writes to the folder that has its run folders.
inline constexpr const char* kCrossValidationFile = "cv.json";
inline constexpr const char* kEnsembleFile = "ensemble.json";

/// "YYYYMMDD_HHMMSS", and "_tag" where there is one, in local time.
std::string run_name(const std::string& tag, std::time_t now);

/// A folder that nobody else has: `parent`/`name`, or with _2, _3, ... where that is taken. The end
/// of the scope removes it, and the parents that were made for it, where they are empty still.
class NewFolder {
 public:
  /// Throws Error(kFileSystem); then nothing was made.
  NewFolder(const std::filesystem::path& parent, const std::string& name);

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Made {
    Made() = default;
    ~Made();
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;
    std::vector<std::filesystem::path> folders;  // outermost first
  };

  Made made_;
  std::filesystem::path path_;
};

/// Makes `parent`/YYYYMMDD_HHMMSS[_tag] with its `checkpoints` folder, in local time. A name that
/// is taken gets _2, _3, ...; an existing folder is never used again.
/// Throws Error(kFileSystem); then nothing was made.
RunDir create_run_dir(const std::filesystem::path& parent, const std::string& tag, std::time_t now);

/// Throws Error(kFileSystem) when the file system of `folder`, which need not exist yet, has no
/// room for `num_checkpoints` files of `checkpoint_bytes`.
void check_free_space(const std::filesystem::path& folder, uint64_t checkpoint_bytes,
                      int64_t num_checkpoints);

/// Makes `latest` beside the run folder point to it. A file system without links is no error.
void point_latest_to(const RunDir& run);

/// The run folder that a checkpoint file lies in, or an empty path when it lies elsewhere.
std::filesystem::path find_run_dir(const std::filesystem::path& checkpoint);

}  // namespace trainer::run
