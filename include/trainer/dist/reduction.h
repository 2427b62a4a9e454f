// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trainer/dist/division.h"
#include "trainer/dist/world.h"

namespace trainer::dist {

/// Adds what the ranks have computed, in the tree of core/shard_tree.h, so that the sum has the
/// same bits for any number of ranks. What is ready travels while the rest is computed. All ranks
/// call the same functions with pieces of the same sizes in the same order. Functions throw
/// Error(kLostProcess) if another rank is lost.
class Reduction {
 public:
  /// Both must outlive it.
  Reduction(World& world, const Division& division) : world_(world), division_(division) {}

  /// Takes `size` floats of each subtree of this rank, and will write their sum over all shards to
  /// `out`, which may be one of `mine`. Their memory is used until finish(); that of World::
  /// allocate() is the fastest.
  void add(std::span<float* const> mine, int64_t size, float* out);

  /// Returns when the sums of all pieces are complete.
  void finish();

 private:
  struct Piece {
    int64_t size = 0;
    float* out = nullptr;
    std::vector<const void*> values;  // of each of division_.all_subtrees(), those of my segment
    std::unique_ptr<float[]> received;
    std::size_t received_size = 0;
    int64_t exchange = 0;  // that brings them
  };

  void sum_next();

  World& world_;
  const Division& division_;
  std::vector<Piece> pieces_;  // the first num_added_ of this sum
  std::size_t num_added_ = 0;
  std::size_t num_summed_ = 0;
  int64_t last_exchange_ = 0;
};

}  // namespace trainer::dist
