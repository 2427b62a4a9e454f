// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/operands.h"

#include "cpu/bf16.h"
#include "cpu/multiply_blocks.h"
#include "cpu/pack.h"
#include "cpu/pack_bf16.h"

namespace trainer::cpu::TRAINER_ISA {

inline void multiply(const Product& p, float* scratch) {
  multiply_blocks<Fp32Operands>(p, scratch);
}

/// As multiply(), with operands that are rounded to bf16.
inline void multiply_bf16(const Product& p, float* scratch) {
  const FlushedSubnormals flushed;
  multiply_blocks<Bf16Operands>(p, scratch);
}

}  // namespace trainer::cpu::TRAINER_ISA
