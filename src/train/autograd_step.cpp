// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/train/step.h"

namespace trainer::train {
namespace {

class AutogradStep : public TrainStep {
 public:
  explicit AutogradStep(const StepContext& context) : context_(context) {}

  StepStats run(const Window& window, double learning_rate) override {
    model::FlatParameters& flat = context_.model.parameters();
    StepStats stats = start(window);
    flat.gradients.zero_();
    for (int64_t begin = 0; begin < stats.num_samples; begin += window.batch_size) {
      const int64_t count = std::min(window.batch_size, stats.num_samples - begin);
      add_batch(gather(window.data, window.rows.narrow(0, begin, count)), stats);
    }
    stats.grad_norm = optim::clip_gradients(flat, context_.clip_norm);
    check_finite(stats);
    optim::update(context_.optimizer, learning_rate, flat, context_.optimizer_state);
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

  // Reading a number of an accelerator would wait for it; there the next log record notices.
  static void check_finite(const StepStats& stats) {
    if (!stats.grad_norm.is_cpu()) return;
    const auto norm = stats.grad_norm.item<float>();
    if (std::isfinite(norm)) return;
    throw Error(ErrorKind::kNonFinite,
                fmt::format("the gradient is not finite (norm {}, mean loss {})", norm,
                            stats.loss_sum.item<float>() / static_cast<float>(stats.num_samples)));
  }

  StepContext context_;
};

}  // namespace

std::unique_ptr<TrainStep> make_autograd_step(const StepContext& context) {
  return std::make_unique<AutogradStep>(context);
}

}  // namespace trainer::train
