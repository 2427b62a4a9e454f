// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainer::model {

/// A linear model x W^T + b.
struct LinearModel {
  at::Tensor weight;  // [outputs, inputs] float64
  at::Tensor bias;    // [outputs] float64
};

/// Ridge regression of `targets` `[rows, outputs]` on `inputs` `[rows, inputs]`, on the CPU, with
/// `row_weights` `[rows]` if they are defined. The penalty is the one with the smallest squared
/// error of leave-one-out predictions (PRESS; Allen, Technometrics 1974), which follow from the
/// singular values of the inputs.
LinearModel fit_ridge(const at::Tensor& inputs, const at::Tensor& targets,
                      const at::Tensor& row_weights = {});

}  // namespace trainer::model
