// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace trainer::checkpoint {

/// What a checkpoint is written for. Each becomes last.pt; an epoch and a step get a file of their
/// own besides.
enum class SaveReason { kEpoch, kStep, kOther };

/// The checkpoints of a run: `checkpoint_epoch_005.pt` of the last epochs,
/// `checkpoint_step_00001234.pt` of the last steps within the epoch under way, `last.pt` and
/// `best.pt`. Each name is a complete file at every moment, and best.pt is never newer than
/// last.pt; names of the same checkpoint share the bytes where the file system has hard links.
/// Older files are removed when the newer ones are safe.
class Store {
 public:
  Store(std::filesystem::path folder, int64_t keep_last);

  enum class IsBest { kNo, kYes };

  /// Returns when the checkpoint is on the disk. Throws Error(kFileSystem).
  void save(const Checkpoint& checkpoint, SaveReason reason, IsBest is_best) const;

  /// Makes the folder what it was when `checkpoint`, read from `file`, was the newest: last.pt is
  /// it, best.pt is that of its best epoch, later files are gone. Of a file elsewhere only the best
  /// epoch is taken over, for its metrics.jsonl is not the one here. Returns false when no file
  /// holds the best epoch any more; then best.pt stays as it is.
  bool rewind(const Checkpoint& checkpoint, const std::filesystem::path& file) const;

  /// The checkpoint of `wanted`, when best.pt or the file of that epoch is it and can be read.
  std::optional<Checkpoint> read_best(const Best& wanted) const;

  /// The file of the newest epoch up to `epoch`, or an empty path.
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

/// The checkpoints in `folder`, newest first: last.pt, those of steps, those of epochs, best.pt.
std::vector<std::filesystem::path> newest_first(const std::filesystem::path& folder);

}  // namespace trainer::checkpoint
