// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/config/types.h"
#include "trainer/cpu/kernels.h"
#include "trainer/cpu/operands.h"

/// What training and evaluation do with the outputs of a network.
namespace trainer::cpu {

/// What the outputs of some rows should be: one of both.
struct LossTargets {
  const int64_t* classes = nullptr;  // [rows]
  const float* values = nullptr;     // [rows, columns] of a regression
};

/// Computes the loss of each row, and its gradient if wanted, with the kernel for `loss`, which is
/// not kAuto.
void compute_losses(const Kernels& kernels, config::Loss loss, const LossInput& input,
                    const LossTargets& targets, const LossOutput& output);

/// Writes the outputs with their bias to `out` `[rows, columns]`.
void copy_outputs(const LossInput& input, float* out);

}  // namespace trainer::cpu
