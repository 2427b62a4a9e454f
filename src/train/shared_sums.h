// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "trainer/dist/division.h"
#include "trainer/dist/reduction.h"
#include "trainer/dist/world.h"
#include "trainer/train/step.h"

// What a step adds over the shards of all processes.
namespace trainer::train {

/// Sums over the rows of a shard, or of several.
struct ShardTotals {
  double loss = 0;
  double num_correct = 0;

  ShardTotals& operator+=(const ShardTotals& other) {
    loss += other.loss;
    num_correct += other.num_correct;
    return *this;
  }
};

/// The sums of one step after the other. All processes call the same functions in the same order.
/// What is started travels while the step goes on.
class SharedSums {
 public:
  SharedSums(dist::World& world, const dist::Division& division)
      : world_(world), division_(division), gradients_(world, division) {}

  struct Step {
    ShardTotals totals;
    Requests requests;
  };
  /// Tells the other processes the totals of each shard of this one. `failure`: what kept this
  /// process from computing its gradient, which must be that memory ran out.
  void start_totals(std::span<const ShardTotals> shards, const std::exception_ptr& failure);
  /// The totals over all shards, and what any process was asked. Throws the failure of
  /// start_totals(), and on the others one that is taken for the same
  /// (device::is_out_of_memory()).
  Step finish_totals();

  /// dist::Reduction of the gradients of each subtree of this process.
  void start_gradients(std::span<float* const> subtrees, int64_t size, float* out) {
    gradients_.add(subtrees, size, out);
  }
  void finish_gradients() { gradients_.finish(); }

  /// The sum over all shards of `width` values of each, given those of the shards of this process.
  std::vector<double> sum(std::span<const double> shards, std::size_t width);

  /// `width` values for each subtree of this process: those of all subtrees. Guarded.
  std::span<const double> gather(std::span<const double> mine, std::size_t width) noexcept;

  /// Calls body() where nothing may be thrown, unless an earlier one has failed, and keeps its
  /// exception for rethrow_failure().
  template <class Body>
  void guard(const Body& body) noexcept {
    if (failure_) return;
    try {
      body();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  bool has_failed() const { return failure_ != nullptr; }
  void rethrow_failure();

 private:
  std::size_t report_size() const;

  dist::World& world_;
  const dist::Division& division_;
  dist::Reduction gradients_;
  std::vector<std::byte> my_report_;
  std::vector<std::byte> reports_;  // of all processes
  int64_t reporting_ = 0;           // the exchange that brings them
  std::exception_ptr my_failure_;   // that others are told
  ShardTotals alone_;
  std::vector<std::byte> sent_;  // of gather()
  std::vector<std::byte> received_;
  std::vector<double> gathered_;
  std::exception_ptr failure_;  // that was guarded
};

}  // namespace trainer::train
