// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::checkpoint {

/// Why a checkpoint is written. Each becomes last.pt; those of epochs and of steps also get a file
/// of their own.
enum class SaveReason { kEpoch, kStep, kOther };

/// The checkpoints of a run: `checkpoint_epoch_005.pt` of the last epochs,
/// `checkpoint_step_00001234.pt` of the last steps in the current epoch, `last.pt` and `best.pt`.
/// Each name is a complete file at every moment, and best.pt is never newer than last.pt. Names of
/// the same checkpoint are hard links if the file system supports them. Older files are removed
/// once the newer ones are on disk.
class Store {
 public:
  Store(std::filesystem::path folder, int64_t keep_last);

  enum class IsBest { kNo, kYes };

  /// Writes a checkpoint, and returns when it is on disk. Throws Error(kFileSystem).
  void save(const Checkpoint& checkpoint, SaveReason reason, IsBest is_best) const;

  /// Restores the folder to the time when `checkpoint`, read from `file`, was the newest: last.pt
  /// is that checkpoint, best.pt is that of its best epoch, and later files are removed. If `file`
  /// is in another folder, only best.pt is restored, because metrics.jsonl of that run is not here.
  /// Returns false if no file has the best epoch any more; then best.pt does not change.
  bool rewind(const Checkpoint& checkpoint, const std::filesystem::path& file) const;

  /// Returns the checkpoint of the best epoch `wanted` from best.pt or from the file of that epoch;
  /// nothing if neither is that checkpoint and readable.
  std::optional<Checkpoint> read_best(const Best& wanted) const;

  /// Returns the file of the newest epoch that is at most `epoch`, or an empty path.
  std::filesystem::path newest_epoch(int64_t epoch) const;

  std::filesystem::path best() const { return folder_ / "best.pt"; }
  std::filesystem::path last() const { return folder_ / "last.pt"; }

 private:
  std::filesystem::path file_path(const Checkpoint& checkpoint, SaveReason reason) const;
  bool recover_best(const Best& wanted, const std::filesystem::path& resumed) const;
  void prune(const Position& newest) const;

  std::filesystem::path folder_;
  int64_t keep_last_;
};

/// Returns the checkpoint files in `folder`, newest first: last.pt, those of steps, those of
/// epochs, best.pt.
std::vector<std::filesystem::path> newest_first(const std::filesystem::path& folder);

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
