// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/product.h"

namespace trainer::cpu::TRAINER_ISA {

inline void write_sum(float* to, float value, Accumulate accumulate) {
  *to = accumulate == Accumulate::kYes ? *to + value : value;
}

}  // namespace trainer::cpu::TRAINER_ISA
