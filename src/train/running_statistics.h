// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "trainer/distributed/division.h"
#include "trainer/torch/model/network.h"
#include "trainer/train/step.h"

#include "train/shared_sums.h"

// Batch norm changes its running statistics in the forward pass: before it is known whether the
// step is finite and, if each shard of a batch is normalized separately, once for each shard.
namespace trainer::train {

/// Saves and restores the running statistics of a model during a step.
class RunningStatistics {
 public:
  /// `shared` and `division` must outlive this object.
  RunningStatistics(const model::Network& model, NormalizesOver over, SharedSums& shared,
                    const dist::Division& division);

  NormalizesOver normalizes_over() const {
    return are_per_shard() ? NormalizesOver::kShard : NormalizesOver::kBatch;
  }
  bool are_per_shard() const { return shards_.defined(); }
  /// Whether all values are finite. Works on the CPU only, because it reads the memory directly.
  bool are_finite() const;

  /// Saves the values before a step. Each shard starts with them.
  void save();
  /// Undoes the changes of the step.
  void restore();

  // The three functions below do nothing unless the statistics are per shard.

  /// load() is called before rows of shard `index` of this process go through the network, store()
  /// after.
  void load(int64_t index);
  void store(int64_t index);
  /// Replaces the statistics by their mean over the shards of all processes; called after the last
  /// shard.
  void take_mean();

 private:
  at::Tensor values_;  // [n] float32 buffers of the model; undefined: it has none
  at::Tensor saved_;   // [n]
  at::Tensor shards_;  // [shards of this process, n]
  SharedSums& shared_;
  const dist::Division& division_;
};

}  // namespace trainer::train
