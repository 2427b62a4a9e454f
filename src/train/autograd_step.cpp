// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <exception>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "trainer/core/error.h"
#include "trainer/device/memory.h"
#include "trainer/model/gradient.h"
#include "trainer/schedule/loss_scale.h"
#include "trainer/train/step.h"

namespace trainer::train {
namespace {

class AutogradStep : public TrainStep {
 public:
  explicit AutogradStep(const StepContext& context) : context_(context) {}

  StepStats run(const Window& window, const UpdateRates& rates) override {
    const StepStats stats = compute_gradient(window);
    if (stats.is_finite) {
      update(rates);
    } else {
      restore_buffers();
    }
    return stats;
  }

  void rehearse(const Window& window) override {
    compute_gradient(window);
    restore_buffers();
  }

  Evaluation evaluate(const ResidentData& data) override {
    return train::evaluate(context_.model, data, context_.loss);
  }

 private:
  /// Sums over the batches of a window, on the device.
  struct Sums {
    at::Tensor loss;         // 0-d float32
    at::Tensor num_correct;  // 0-d int64
  };

  // Running out of memory here leaves the weights partly updated.
  void update(const UpdateRates& rates) {
    try {
      config::OptimizerConfig optimizer = context_.optimizer;
      optimizer.weight_decay *= rates.weight_decay_factor;
      optim::update(optimizer, rates.learning_rate, context_.model.parameters(),
                    context_.optimizer_state);
      optim::update_average(context_.ema_decay, context_.model.parameters(),
                            context_.optimizer_state);
    } catch (const std::exception& e) {
      if (!device::is_out_of_memory(e)) throw;
      throw Error(ErrorKind::kOutOfMemory,
                  "out of memory during the weight update; resume from the last checkpoint with a "
                  "smaller training.batch_size or on another device");
    }
  }

  double loss_scale() const {
    return context_.loss_scale == nullptr ? 1 : context_.loss_scale->scale;
  }

  StepStats compute_gradient(const Window& window) {
    save_buffers();
    try {
      return add_batches(window);
    } catch (...) {
      restore_buffers();
      throw;
    }
  }

  StepStats add_batches(const Window& window) {
    model::FlatParameters& flat = context_.model.parameters();
    const auto options = at::TensorOptions().device(window.order.device());
    const Sums sums{at::zeros({}, options.dtype(at::kFloat)),
                    at::zeros({}, options.dtype(at::kLong))};
    flat.gradients.zero_();
    for (int64_t begin = 0; begin < window.num_samples; begin += window.batch_size) {
      add_batch(window, begin, sums);
    }
    if (loss_scale() != 1) flat.gradients.mul_(1 / loss_scale());
    return read(window, sums, optim::clip_gradients(flat, context_.clip_norm));
  }

  // Adds the gradient of this batch, as a fraction of the mean loss of the window.
  void add_batch(const Window& window, int64_t begin, const Sums& sums) {
    const int64_t count = std::min(window.batch_size, window.num_samples - begin);
    const Batch batch = gather(window.data, window.rows(begin, count));
    const model::BatchResult result = model::add_gradient(
        context_.model, {.features = batch.features,
                         .targets = batch.targets,
                         .loss = context_.loss,
                         .scale = loss_scale() / static_cast<double>(window.num_samples),
                         .noise = {.seed = window.dropout_seed,
                                   .first_row = begin,
                                   .dropout_factor = window.dropout_factor}});
    sums.loss.add_(result.loss_sum);
    sums.num_correct.add_(result.num_correct);
  }

  // Reads all numbers together: a step waits for the device only here.
  StepStats read(const Window& window, const Sums& sums, const at::Tensor& grad_norm) const {
    const at::Tensor& buffers = context_.model.buffer_values();
    // The sum is finite only if all buffers are.
    const at::Tensor sum = buffers.defined() ? buffers.sum() : at::zeros_like(grad_norm);
    const at::Tensor numbers =
        at::stack({grad_norm, sums.loss, sums.num_correct.to(at::kFloat), sum}).cpu();
    const auto* values = numbers.data_ptr<float>();
    const bool is_finite = std::isfinite(values[0] + values[1] + values[3]);
    return {.loss_sum = values[1],
            .num_correct = static_cast<int64_t>(values[2]),
            .grad_norm = values[0],
            .num_samples = window.num_samples,
            .is_finite = is_finite,
            .has_overflowed = !is_finite && std::isfinite(values[1] + values[3]) &&
                              loss_scale() > schedule::kMinLossScale};
  }

  // Batch norm changes its running statistics in the forward pass, before it is known whether the
  // step is finite.
  void save_buffers() {
    const at::Tensor& buffers = context_.model.buffer_values();
    if (!buffers.defined()) return;
    if (!saved_buffers_.defined()) saved_buffers_ = at::empty_like(buffers);
    saved_buffers_.copy_(buffers);
  }

  void restore_buffers() {
    if (saved_buffers_.defined()) context_.model.buffer_values().copy_(saved_buffers_);
  }

  StepContext context_;
  at::Tensor saved_buffers_;
};

}  // namespace

std::unique_ptr<TrainStep> make_autograd_step(const StepContext& context) {
  return std::make_unique<AutogradStep>(context);
}

}  // namespace trainer::train
