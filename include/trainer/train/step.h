// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <ATen/core/Tensor.h>

#include "trainer/model/loss.h"
#include "trainer/model/mlp.h"
#include "trainer/optim/optimizer.h"
#include "trainer/train/batches.h"

namespace trainer::train {

/// The samples of one optimizer step, taken as batches of at most `batch_size` whose gradients add
/// up to that of all of them.
struct Window {
  const ResidentData& data;
  at::Tensor rows;  // [samples] int64 on the device
  int64_t batch_size = 1;

  int64_t num_samples() const { return rows.size(0); }
};

/// Results of a step, still on the device.
struct StepStats {
  at::Tensor loss_sum;     // 0-d float32, over the samples of the window
  at::Tensor num_correct;  // 0-d int64
  at::Tensor grad_norm;    // 0-d float32, before clipping
  int64_t num_samples = 0;
  bool is_finite = true;  // loss, gradient and buffers; otherwise the step changed nothing
};

/// What a step works on; everything outlives the step.
struct StepContext {
  model::Mlp& model;
  optim::OptimizerState& optimizer_state;
  optim::OptimizerOptions optimizer;
  model::LossOptions loss;
  double clip_norm = 1.0;  // 0: never
};

/// One optimizer step. The gradient is that of the mean loss over the window, whatever its size.
class TrainStep {
 public:
  virtual ~TrainStep() = default;

  /// Where loss, gradient or a running statistic is not finite, model and optimizer state stay as
  /// they were. Waits for the device to know that.
  virtual StepStats run(const Window& window, double learning_rate) = 0;
};

/// The reference: LibTorch's autograd, for any model on any device.
std::unique_ptr<TrainStep> make_autograd_step(const StepContext& context);

}  // namespace trainer::train
