// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "trainer/checkpoint/checkpoint.h"

namespace trainer::checkpoint {

/// Which names a saved checkpoint gets.
struct SaveAs {
  bool epoch_file = false;  // checkpoint_epoch_005.pt, and last.pt
  bool last = false;        // last.pt alone, for a run that stops within an epoch
  bool best = false;        // best.pt
};

/// The checkpoints of a run: `checkpoint_epoch_NNN.pt` of the last epochs, `last.pt` and `best.pt`.
/// Each name is a complete file at every moment; names of the same checkpoint share the bytes where
/// the file system has hard links. Older epochs are removed when the newer ones are safe.
class Store {
 public:
  Store(std::filesystem::path folder, int64_t keep_last);

  /// Throws Error(kFileSystem).
  void save(const Checkpoint& checkpoint, SaveAs names);

  /// Makes best.pt the checkpoint of `wanted` again, when a run goes on from an earlier checkpoint
  /// than its last: out of best.pt itself, `resumed`, or the file of that epoch. Returns false when
  /// none of them is it.
  bool recover_best(const Best& wanted, const std::filesystem::path& resumed) const;

  std::filesystem::path best() const { return folder_ / "best.pt"; }
  std::filesystem::path last() const { return folder_ / "last.pt"; }

 private:
  std::filesystem::path epoch_file(int64_t epoch) const;
  void prune(int64_t newest_epoch) const;

  std::filesystem::path folder_;
  int64_t keep_last_;
};

}  // namespace trainer::checkpoint
