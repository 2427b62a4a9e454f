// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/device/upload.h"
#include "trainer/model/dropout_masks.h"
#include "trainer/model/gradient.h"
#include "trainer/train/step.h"

#include "train/running_statistics.h"

namespace trainer::train {

/// The gradient of the mean loss of a window by LibTorch's autograd, on any device: that of the
/// rows of each shard of this process (dist/division.h), summed by subtrees.
class ShardGradients {
 public:
  /// All arguments must outlive it.
  ShardGradients(const StepContext& context, RunningStatistics& statistics)
      : context_(context), statistics_(statistics) {}

  /// Over the rows of each shard of this process; 0-d float32, on the device.
  struct Sums {
    std::vector<at::Tensor> losses;
    std::vector<at::Tensor> num_correct;
  };

  /// Computes the gradient of the first subtree of this process in the parameters' gradients, and
  /// those of the others in others().
  void compute(const Window& window, Sums& sums);

  /// Whether the next two may be used: the window is one batch, which is computed as a whole.
  bool is_one_pass(const Window& window) const {
    return context_.division.num_shards() == 1 && window.num_samples <= window.max_rows();
  }
  /// Copies to the device what a pass over the window needs from the CPU.
  void prepare_pass(const Window& window) { prepare(window, 0, window.num_samples); }
  /// As compute(), after prepare_pass(): only operations of the device, which all read and write
  /// the same memory for each window of the same size.
  Sums compute_pass(const Window& window);

  const std::vector<at::Tensor>& others() const { return others_; }

  /// The factor of the loss, which keeps gradients in the range of fp16; else 1.
  double loss_scale() const;

  /// 0-d float32, on the device.
  const at::Tensor& zero();

  /// Lets go of the memory of copies: the host has waited for the device.
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
  std::vector<at::Tensor> tree_;    // sums that wait, by depth
  std::vector<at::Tensor> others_;  // gradients of the subtrees of this process after the first
  at::Tensor zero_;
  // 0-d, of the loss, and its inverse without the mean over the samples; with their values.
  at::Tensor scale_;
  at::Tensor inverse_scale_;
  double scale_value_ = 0;
  double inverse_scale_value_ = 0;
  std::shared_ptr<model::DropoutMasks> masks_ = std::make_shared<model::DropoutMasks>();
  device::Uploads uploads_;
};

}  // namespace trainer::train
