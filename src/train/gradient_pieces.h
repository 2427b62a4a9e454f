// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/distributed/world.h"
#include "trainer/torch/model/parameters.h"

#include "train/shared_sums.h"
#include "train/step_passes.h"

// How the autograd step sums gradients over processes. The gradient of the first subtree of this
// process (base/parallel/shard_tree.h) is in `flat.gradients`, those of its other subtrees are in
// `others`, in the same layout. Afterwards the sum over all processes is in `flat.gradients`.

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

/// Sums through the memory of the CPU, from any device.
void share_on_cpu(SharedSums& shared, const dist::Division& division, model::FlatParameters& flat,
                  const std::vector<at::Tensor>& others);

/// Sums directly between accelerators. World::all_to_all() must not be empty.
void share_on_device(dist::World& world, const dist::Division& division,
                     const model::FlatParameters& flat, const std::vector<at::Tensor>& others);

}  // namespace trainer::train
