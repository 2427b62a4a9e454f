// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/distributed/division.h"

#include "train/shared_sums.h"
#include "train/step_passes.h"

namespace trainer::train {

/// Adds the gradients of all processes, piece by piece, while the rest is still computed. Does not
/// throw; SharedSums keeps the error.
class GradientPieces {
 public:
  /// For the first `size` floats of the gradient of each subtree of this process. All arguments
  /// must outlive it.
  GradientPieces(SharedSums& shared, const GradientMemory& gradients,
                 const dist::Division& division, int64_t size)
      : shared_(shared), gradients_(gradients), division_(division), size_(size) {}

  /// Starts to add floats [begin, begin + count), which must be complete in this process.
  void add(int64_t begin, int64_t count) noexcept;

  /// Adds all floats that add() has not been called for, and waits until the sum is in the memory
  /// of the first gradient.
  void finish() noexcept;

 private:
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
  };

  SharedSums& shared_;
  const GradientMemory& gradients_;
  const dist::Division& division_;
  int64_t size_;
  std::vector<Range> added_;
  std::vector<float*> subtrees_;
};

}  // namespace trainer::train
