// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/distributed/division.h"
#include "trainer/distributed/world.h"
#include "trainer/torch/model/parameters.h"

#include "train/shared_sums.h"

// How the autograd step sums gradients over processes. The gradient of the first subtree of this
// process (base/parallel/shard_tree.h) is in `flat.gradients`, those of its other subtrees are in
// `others`, in the same layout. Afterwards the sum over all processes is in `flat.gradients`.
namespace trainer::train {

/// Sums through the memory of the CPU, from any device.
void share_on_cpu(SharedSums& shared, const dist::Division& division, model::FlatParameters& flat,
                  const std::vector<at::Tensor>& others);

/// Sums directly between accelerators. World::all_to_all() must not be empty.
void share_on_device(dist::World& world, const dist::Division& division,
                     const model::FlatParameters& flat, const std::vector<at::Tensor>& others);

}  // namespace trainer::train
