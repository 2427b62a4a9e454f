// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include "trainer/train/step.h"

namespace trainer::train {
namespace {

class AutogradStep : public TrainStep {
 public:
  explicit AutogradStep(const StepContext& context) : context_(context) {}

  StepStats run(const Window& window, double learning_rate) override {
    model::FlatParameters& flat = context_.model.parameters();
    StepStats stats = start(window);
    keep_buffers();
    flat.gradients.zero_();
    for (int64_t begin = 0; begin < stats.num_samples; begin += window.batch_size) {
      const int64_t count = std::min(window.batch_size, stats.num_samples - begin);
      add_batch(gather(window.data, window.rows.narrow(0, begin, count)), stats);
    }
    stats.grad_norm = optim::clip_gradients(flat, context_.clip_norm);
    stats.is_finite = is_finite(stats);
    if (stats.is_finite) {
      optim::update(context_.optimizer, learning_rate, flat, context_.optimizer_state);
    } else {
      restore_buffers();
    }
    return stats;
  }

 private:
  static StepStats start(const Window& window) {
    const auto device = window.rows.device();
    StepStats stats;
    stats.loss_sum = at::zeros({}, at::TensorOptions().dtype(at::kFloat).device(device));
    stats.num_correct = at::zeros({}, at::TensorOptions().dtype(at::kLong).device(device));
    stats.num_samples = window.num_samples();
    return stats;
  }

  // Adds the gradient of this batch's share of the window's mean loss.
  void add_batch(const Batch& batch, StepStats& stats) {
    const at::Tensor outputs = context_.model.forward(batch.features, model::Mode::kTraining);
    const at::Tensor loss = model::loss_sum(outputs, batch.targets, context_.loss);
    loss.div(static_cast<double>(stats.num_samples)).backward();
    stats.loss_sum.add_(loss.detach());
    stats.num_correct.add_(model::num_correct(outputs.detach(), batch.targets, context_.loss));
  }

  // A sum is finite when its parts are: one number to wait for.
  bool is_finite(const StepStats& stats) const {
    at::Tensor sum = stats.grad_norm.add(stats.loss_sum);
    if (context_.model.buffer_values().defined()) sum.add_(context_.model.buffer_values().sum());
    return std::isfinite(sum.item<float>());
  }

  // Batch norm changes its running statistics in the forward pass, before anything can be known.
  void keep_buffers() {
    const at::Tensor& buffers = context_.model.buffer_values();
    if (!buffers.defined()) return;
    if (!kept_buffers_.defined()) kept_buffers_ = at::empty_like(buffers);
    kept_buffers_.copy_(buffers);
  }

  void restore_buffers() {
    if (kept_buffers_.defined()) context_.model.buffer_values().copy_(kept_buffers_);
  }

  StepContext context_;
  at::Tensor kept_buffers_;
};

}  // namespace

std::unique_ptr<TrainStep> make_autograd_step(const StepContext& context) {
  return std::make_unique<AutogradStep>(context);
}

}  // namespace trainer::train
