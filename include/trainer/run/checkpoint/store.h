// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "trainer/run/checkpoint/checkpoint.h"

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

}  // namespace trainer::checkpoint
