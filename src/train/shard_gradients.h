// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/distributed/world.h"
#include "trainer/torch/device/memory.h"
#include "trainer/torch/model/dropout_masks.h"
#include "trainer/torch/model/gradient.h"
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

/// Computes the gradient of the mean loss of a window with LibTorch's autograd, on any device: the
/// gradients of the shards of this process (distributed/world.h), summed for each subtree.
class ShardGradients {
 public:
  /// Both arguments must outlive this object.
  ShardGradients(const StepContext& context, RunningStatistics& statistics)
      : context_(context), statistics_(statistics) {}

  /// The sums over the rows of each shard of this process, each a 0-d float32 tensor on the device.
  struct Sums {
    std::vector<at::Tensor> losses;
    std::vector<at::Tensor> num_correct;
  };

  /// Computes the gradient of each subtree of this process. That of the first one is in the
  /// gradients of the parameters afterwards, those of the others are in others().
  void compute(const Window& window, Sums& sums);

  /// Whether prepare_pass() and compute_pass() may be used: the window is a single batch that is
  /// computed in one pass.
  bool is_one_pass(const Window& window) const {
    return context_.division.num_shards() == 1 && window.num_samples <= window.max_rows();
  }
  /// Copies the inputs of a pass over the window that come from the CPU to the device.
  void prepare_pass(const Window& window) { prepare(window, 0, window.num_samples); }
  /// Does the work of compute() after prepare_pass(), with operations of the device only. They read
  /// and write the same memory for each window of the same size, so a graph can record them.
  Sums compute_pass(const Window& window);

  const std::vector<at::Tensor>& others() const { return others_; }

  /// The factor of the loss that keeps gradients in the range of fp16; 1 in other precisions.
  double loss_scale() const;

  /// A constant 0 on the device, a 0-d float32 tensor.
  const at::Tensor& zero();

  /// Releases the host memory of copies to the device; called after the host has waited for the
  /// device.
  void forget_uploads() { uploads_.clear(); }

 private:
  void prepare(const Window& window, int64_t begin, int64_t count);
  model::BatchResult add_batch(const Window& window, int64_t begin, int64_t count,
                               model::Accumulate accumulate);
  void add_rows_of(int64_t shard, const Window& window, Sums& sums);
  void undo_loss_scale();
  void save_at(int64_t depth);

  const StepContext& context_;
  RunningStatistics& statistics_;
  std::vector<at::Tensor> tree_;    // sums that wait to be added, by depth of the tree
  std::vector<at::Tensor> others_;  // gradients of the subtrees of this process after the first
  at::Tensor zero_;
  // 0-d tensors on the device: loss scale divided by the number of samples, and reciprocal of the
  // loss scale. The values below are copies on the host.
  at::Tensor scale_;
  at::Tensor inverse_scale_;
  double scale_value_ = 0;
  double inverse_scale_value_ = 0;
  std::shared_ptr<model::DropoutMasks> masks_ = std::make_shared<model::DropoutMasks>();
  device::Uploads uploads_;
};

}  // namespace trainer::train
