// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/distributed/reduction.h"
#include "trainer/distributed/world.h"
#include "trainer/torch/model/parameters.h"
#include "trainer/train/step.h"

#include "train/step_passes.h"

// The sums that a step adds over the shards of all processes.
// How the autograd step sums gradients over processes. The gradient of the first subtree of this
// process (base/parallel/shard_tree.h) is in `flat.gradients`, those of its other subtrees are in
// `others`, in the same layout. Afterwards the sum over all processes is in `flat.gradients`.

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
