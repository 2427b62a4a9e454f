// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/dist/division.h"

#include "train/shared_sums.h"
#include "train/step_passes.h"

namespace trainer::train {

/// Adds the gradients of all processes, piece by piece as they are complete. Nothing is thrown:
/// SharedSums keeps the error.
class GradientPieces {
 public:
  /// The first `size` floats of the gradient of each subtree of this process. All arguments must
  /// outlive it.
  GradientPieces(SharedSums& shared, const GradientMemory& gradients,
                 const dist::Division& division, int64_t size)
      : shared_(shared), gradients_(gradients), division_(division), size_(size) {}

  /// Begins to add floats [begin, begin + count).
  void add(int64_t begin, int64_t count) noexcept;

  /// Adds all others, and waits until the sum is in the place of the first gradient.
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
