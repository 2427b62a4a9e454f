// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

namespace trainer::model {

at::Tensor loss_sum(const at::Tensor& outputs, const at::Tensor& targets,
                    const LossOptions& options) {
  if (options.kind == config::Loss::kMse) {
    return at::mse_loss(outputs, targets, at::Reduction::Sum).div(outputs.size(1));
  }
  constexpr int64_t kIgnoreNothing = -100;
  return at::cross_entropy_loss(outputs, targets, /*weight=*/{}, at::Reduction::Sum, kIgnoreNothing,
                                options.label_smoothing);
}

at::Tensor loss_gradient(const at::Tensor& outputs, const at::Tensor& targets,
                         const LossOptions& options) {
  if (options.kind == config::Loss::kMse) {
    return outputs.sub(targets).mul_(2.0 / static_cast<double>(outputs.size(1)));
  }
  // softmax(x) - (1 - e) [j = t] - e/C with C classes and smoothing e
  at::Tensor gradient = at::softmax(outputs, 1);
  const at::Tensor column = targets.unsqueeze(1);
  gradient.scatter_add_(1, column,
                        at::full(column.sizes(), options.label_smoothing - 1, outputs.options()));
  if (options.label_smoothing > 0) {
    gradient.sub_(options.label_smoothing / static_cast<double>(outputs.size(1)));
  }
  return gradient;
}

at::Tensor num_correct(const at::Tensor& outputs, const at::Tensor& targets,
                       const LossOptions& options) {
  if (options.kind == config::Loss::kMse) {
    return at::zeros({}, at::TensorOptions().dtype(at::kLong).device(outputs.device()));
  }
  return outputs.argmax(1).eq(targets).sum();
}

}  // namespace trainer::model
