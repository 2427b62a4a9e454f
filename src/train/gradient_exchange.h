// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/dist/division.h"
#include "trainer/dist/world.h"
#include "trainer/model/parameters.h"

#include "train/shared_sums.h"

// How the autograd step sums gradients over processes. The gradient of the first subtree of this
// process (core/shard_tree.h) is in `flat.gradients`, those of the `others` have its layout; the
// sum over all processes is in `flat.gradients` afterwards.
namespace trainer::train {

/// Through the memory of the CPU.
void share_on_cpu(SharedSums& shared, const dist::Division& division, model::FlatParameters& flat,
                  const std::vector<at::Tensor>& others);

/// Between accelerators, where World::all_to_all() is there.
void share_on_device(dist::World& world, const dist::Division& division,
                     const model::FlatParameters& flat, const std::vector<at::Tensor>& others);

}  // namespace trainer::train
