// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trainer/distributed/world.h"

namespace trainer::dist {

/// An all-reduce: adds the gradients of all ranks in the tree of base/parallel/shard_tree.h, so
/// that the sum has the same bits for any number of ranks. Finished pieces are transferred while
/// the rest is computed. All ranks call the same functions with pieces of the same sizes in the
/// same order. Functions throw Error(kLostProcess) if another rank is lost.
class Reduction {
 public:
  /// `world` and `division` must outlive this object.
  Reduction(World& world, const Division& division) : world_(world), division_(division) {}

  /// Starts to sum `size` floats. `mine` has those of each subtree of this rank; the sum over all
  /// shards goes to `out`, which may be one of `mine`. The memory is used until finish(). Memory of
  /// World::allocate() is the fastest.
  void add(std::span<float* const> mine, int64_t size, float* out);

  /// Waits until the sums of all pieces are complete.
  void finish();

 private:
  struct Piece {
    int64_t size = 0;
    float* out = nullptr;
    /// The values of this rank's segment for each of division_.all_subtrees().
    std::vector<const void*> values;
    std::unique_ptr<float[]> received;
    std::size_t received_size = 0;
    int64_t exchange = 0;  // the exchange that receives these values
  };

  void sum_next();

  World& world_;
  const Division& division_;
  std::vector<Piece> pieces_;  // the first num_added_ are in use; the others keep their memory
  std::size_t num_added_ = 0;
  std::size_t num_summed_ = 0;
  int64_t last_exchange_ = 0;
};

}  // namespace trainer::dist
