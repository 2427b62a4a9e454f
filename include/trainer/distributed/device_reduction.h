// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/distributed/division.h"

namespace trainer::dist {

/// Sends part r of `in` to each rank r and receives part r of `out` from it, as MPI_Alltoallv. Both
/// are flat tensors on the device; the counts are the sizes of the parts in elements. All ranks
/// call it together.
using AllToAll =
    std::function<void(at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_counts,
                       std::vector<int64_t>& in_counts)>;

/// Adds gradients in the memory of an accelerator, in the tree of base/parallel/shard_tree.h.
/// `mine` has a flat float32 tensor of the size of `out` for each subtree of this rank; these
/// tensors do not change. Writes the sum over all shards, with the same bits on all ranks, to
/// `out`.
void sum_on_device(const Division& division, const AllToAll& all_to_all,
                   const std::vector<at::Tensor>& mine, at::Tensor out);

}  // namespace trainer::dist
