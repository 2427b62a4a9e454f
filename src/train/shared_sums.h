// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "trainer/dist/division.h"
#include "trainer/dist/world.h"
#include "trainer/train/step.h"

// What a step adds over the shards of all processes.
namespace trainer::train {

/// Sums over the rows of a shard, or of several.
struct ShardTotals {
  double loss = 0;
  double num_correct = 0;
};

/// The sums of one step after the other. All processes call the same functions in the same order.
class SharedSums {
 public:
  SharedSums(dist::World& world, const dist::Division& division)
      : world_(world), division_(division) {}

  struct Step {
    ShardTotals totals;
    Requests requests;
  };
  /// Adds the totals of each shard of this process to those of all others, and learns what they
  /// are asked. `failure`: what kept this process from computing its gradient, which must be that
  /// memory ran out. Then it is thrown, and on the others one that is taken for the same
  /// (device::is_out_of_memory()).
  Step add_totals(std::span<const ShardTotals> shards, const std::exception_ptr& failure);

  /// dist::World::sum() of the gradients of each subtree of this process.
  void add_gradients(std::span<float* const> subtrees, int64_t size, float* out) {
    world_.sum(division_, subtrees, size, out);
  }

  /// `width` values for each subtree of this process: those of all subtrees. Does not throw, but
  /// rethrow_failure() does.
  std::span<const double> gather(std::span<const double> mine, std::size_t width) noexcept;
  void rethrow_failure();

 private:
  dist::World& world_;
  const dist::Division& division_;
  std::vector<std::byte> sent_;
  std::vector<std::byte> received_;
  std::vector<double> gathered_;
  std::exception_ptr failure_;  // of gather()
};

}  // namespace trainer::train
