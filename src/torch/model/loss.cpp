// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/l1_loss.h>
#include <ATen/ops/mse_loss.h>

namespace trainer::model {
namespace {

// Converts classes to 0.0 and 1.0 in the shape of the outputs, `[batch, 1]`.
at::Tensor as_column(const at::Tensor& classes, const at::Tensor& outputs) {
  return classes.to(outputs.scalar_type()).unsqueeze(1);
}

at::Tensor compute_loss(const at::Tensor& outputs, const at::Tensor& targets,
                        const LossOptions& options, at::Reduction::Reduction reduction) {
  constexpr int64_t kIgnoreNothing = -100;
  switch (options.kind) {
    case config::Loss::kBinaryCrossEntropy:
      return at::binary_cross_entropy_with_logits(outputs, as_column(targets, outputs), {}, {},
                                                  reduction);
    case config::Loss::kMse:
      return at::mse_loss(outputs, targets, reduction);
    case config::Loss::kL1:
      return at::l1_loss(outputs, targets, reduction);
    case config::Loss::kHuber:
      return at::huber_loss(outputs, targets, reduction, options.huber_delta);
    case config::Loss::kAuto:
    case config::Loss::kCrossEntropy:
      break;
  }
  return at::cross_entropy_loss(outputs, targets, /*weight=*/{}, reduction, kIgnoreNothing,
                                options.label_smoothing);
}

}  // namespace

at::Tensor loss_sum(const at::Tensor& outputs, const Targets& targets, const LossOptions& options) {
  const bool is_one_a_sample = options.kind == config::Loss::kCrossEntropy;
  const auto num_terms = static_cast<double>(is_one_a_sample ? 1 : outputs.size(1));
  if (!targets.weights.defined()) {
    const at::Tensor sum = compute_loss(outputs, targets.values, options, at::Reduction::Sum);
    return num_terms == 1 ? sum : divided(sum, num_terms);
  }
  const at::Tensor losses = compute_loss(outputs, targets.values, options, at::Reduction::None);
  if (is_one_a_sample) return losses.mul(targets.weights).sum();
  const at::Tensor sum = losses.mul(targets.weights.unsqueeze(1)).sum();
  return num_terms == 1 ? sum : divided(sum, num_terms);
}

at::Tensor divided(const at::Tensor& sum, double divisor) {
  return sum.div(at::full({}, divisor, sum.options()));
}

at::Tensor num_correct(const at::Tensor& outputs, const Targets& targets,
                       const LossOptions& options) {
  switch (options.kind) {
    case config::Loss::kCrossEntropy:
      return outputs.argmax(1).eq(targets.values).sum(at::kFloat);
    case config::Loss::kBinaryCrossEntropy:
      return outputs.squeeze(1).gt(0).eq(targets.values).sum(at::kFloat);
    case config::Loss::kAuto:
    case config::Loss::kMse:
    case config::Loss::kL1:
    case config::Loss::kHuber:
      break;
  }
  return {};
}

}  // namespace trainer::model
