// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "trainer/distributed/reduction.h"
#include "trainer/distributed/world.h"
#include "trainer/train/step.h"

// The sums that a step adds over the shards of all processes.
namespace trainer::train {

/// The loss and the number of correct predictions, summed over the rows of one or several shards.
struct ShardTotals {
  double loss = 0;
  double num_correct = 0;

  ShardTotals& operator+=(const ShardTotals& other) {
    loss += other.loss;
    num_correct += other.num_correct;
    return *this;
  }
};

/// Computes the sums of each step. All processes must call the same functions in the same order.
/// What a start function sends is transferred while the step continues.
class SharedSums {
 public:
  SharedSums(dist::World& world, const dist::Division& division)
      : world_(world), division_(division), gradients_(world, division) {}

  struct Step {
    ShardTotals totals;
    Requests requests;
  };
  /// Starts to send the totals of each shard of this process to all others. `failure` is null, or
  /// the out-of-memory exception that kept this process from computing its gradient.
  void start_totals(std::span<const ShardTotals> shards, const std::exception_ptr& failure);
  /// Returns the totals over all shards, and the requests to any process. If a process passed a
  /// failure to start_totals(), rethrows it there, and throws std::bad_alloc in all other
  /// processes, which device::is_out_of_memory() recognizes as well.
  Step finish_totals();

  /// Starts to sum `size` floats of the gradients over all subtrees of all processes
  /// (dist::Reduction); `subtrees` are those of this process.
  void start_gradients(std::span<float* const> subtrees, int64_t size, float* out) {
    gradients_.add(subtrees, size, out);
  }
  void finish_gradients() { gradients_.finish(); }

  /// Sums `width` values over all shards of all processes, given those of the shards of this
  /// process.
  std::vector<double> sum(std::span<const double> shards, std::size_t width);

  /// Takes `width` values for each subtree of this process and returns those of all subtrees, valid
  /// until the next call. Errors are kept as in guard().
  std::span<const double> gather(std::span<const double> mine, std::size_t width) noexcept;

  /// Calls body() in a context that must not throw, and keeps its exception for rethrow_failure().
  /// Does nothing after an earlier failure.
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
  std::vector<std::byte> reports_;  // reports of all processes
  int64_t reporting_ = 0;           // the exchange that brings these reports
  std::exception_ptr my_failure_;   // the failure that start_totals() reports to others
  ShardTotals alone_;
  std::vector<std::byte> sent_;  // buffer of gather()
  std::vector<std::byte> received_;
  std::vector<double> gathered_;
  std::exception_ptr failure_;  // the first exception in guard()
};

}  // namespace trainer::train
