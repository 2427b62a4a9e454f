// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "trainer/dist/division.h"
#include "trainer/model/network.h"
#include "trainer/train/step.h"

#include "train/shared_sums.h"

// Batch norm changes its running statistics in the forward pass: before it is known whether the
// step is finite, and, where each shard of a batch is normalized by itself, once for each shard.
namespace trainer::train {

/// The buffers of a model during a step.
class RunningStatistics {
 public:
  /// All arguments must outlive it.
  RunningStatistics(const model::Network& model, NormalizesOver over, SharedSums& shared,
                    const dist::Division& division);

  NormalizesOver normalizes_over() const {
    return are_per_shard() ? NormalizesOver::kShard : NormalizesOver::kBatch;
  }
  bool are_per_shard() const { return shards_.defined(); }
  /// On the CPU only, as it reads them.
  bool are_finite() const;

  /// Before a step: keeps the values, from which each shard starts.
  void save();
  /// Takes back what the step has changed.
  void restore();

  // The three below do nothing unless they are per shard.

  /// Before rows of shard `index` of this process go through the network, and after.
  void load(int64_t index);
  void store(int64_t index);
  /// After all shards: their mean, on all processes.
  void take_mean();

 private:
  at::Tensor values_;  // [n] float32, those of the model; undefined: it has none
  at::Tensor saved_;   // [n]
  at::Tensor shards_;  // [shards of this process, n]
  SharedSums& shared_;
  const dist::Division& division_;
};

}  // namespace trainer::train
