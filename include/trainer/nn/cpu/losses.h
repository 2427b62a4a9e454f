// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/config/types.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/operands.h"

/// Losses of the outputs of a network, for training and evaluation.
namespace trainer::cpu {

/// The targets of some rows: either classes or values is set.
struct LossTargets {
  const int64_t* classes = nullptr;  // [rows]
  const float* values = nullptr;     // [rows, columns] for a regression
};

/// Computes the loss of each row, and its gradient if `input.wants_gradient`. `loss` must not be
/// kAuto.
void compute_losses(const Kernels& kernels, config::Loss loss, const LossInput& input,
                    const LossTargets& targets, const LossOutput& output);

/// Writes the outputs plus the bias to `out` `[rows, columns]`, without gaps between rows.
void copy_outputs(const LossInput& input, float* out);

}  // namespace trainer::cpu
