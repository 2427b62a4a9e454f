// SPDX-License-Identifier: Apache-2.0
// Without their means, and with rows multiplied by the roots of their weights, inputs are U S V^T
// and targets Y. With the penalty p the predictions of the training rows are H Y, H = U diag(s^2 /
// (s^2 + p)) U^T, and the error of a row that is predicted by a model of all others is that of H Y,
// divided by 1 - H_ii, less the row's own share of the means.
#include "trainer/torch/model/ridge.h"

#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

namespace trainer::model {

LinearModel fit_ridge(const at::Tensor& inputs, const at::Tensor& targets,
                      const at::Tensor& row_weights) {
  const at::Tensor x = inputs.to(at::kDouble);
  const at::Tensor y = targets.to(at::kDouble);
  at::Tensor shares = row_weights.defined() ? row_weights.to(at::kDouble).view({-1, 1})
                                            : at::ones({x.size(0), 1}, at::kDouble);
  shares = shares / shares.sum();
  const at::Tensor roots = shares.sqrt();
  const at::Tensor x_mean = (shares * x).sum(0);
  const at::Tensor y_mean = (shares * y).sum(0);
  const at::Tensor centered = roots * (y - y_mean);
  const auto [u, s, vh] = at::linalg_svd(roots * (x - x_mean), /*full_matrices=*/false);
  const at::Tensor variances = s.square();
  const at::Tensor projected = u.t().matmul(centered);
  const double greatest = variances.numel() == 0 ? 0 : variances.max().item<double>();
  at::Tensor best = at::zeros_like(variances);
  double least = std::numeric_limits<double>::infinity();
  for (double penalty = 10 * greatest; penalty > 1e-11 * greatest; penalty /= 4) {
    const at::Tensor shrunk = variances / (variances + penalty);
    const at::Tensor left = 1 - shares - u.square().matmul(shrunk.unsqueeze(1));
    const at::Tensor residuals = centered - u.matmul(shrunk.unsqueeze(1) * projected);
    const auto error = (residuals / left).square().sum().item<double>();
    if (!(error < least)) continue;
    least = error;
    best = s / (variances + penalty);
  }
  const at::Tensor weight = vh.t().matmul(best.unsqueeze(1) * projected).t();
  return {.weight = weight, .bias = y_mean - weight.matmul(x_mean)};
}

}  // namespace trainer::model
