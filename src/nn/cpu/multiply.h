// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/product.h"

#include "nn/cpu/bf16.h"
#include "nn/cpu/multiply_blocks.h"
#include "nn/cpu/pack.h"

namespace trainer::cpu::TRAINER_ISA {

/// Tells multiply_blocks() how to read and pack fp32 operands. Elements are single depths.
struct Fp32Operands {
  using Element = float;

  static int64_t num_elements(int64_t depth) { return depth; }
  static int64_t panel_stride(int64_t /*num_columns*/) { return kPanelColumns; }
  static bool packs(const Product& p, int64_t num_columns, int64_t depth) {
    return packs_panel(p, num_columns, depth);
  }
  static Panel<float> panel(const Product& p, int64_t column, int64_t num_columns, int64_t begin,
                            int64_t depth, float* packed) {
    return make_panel(p, column, num_columns, begin, depth, packed);
  }
  static Block<float> block(const Product& p, int64_t row, int64_t num_rows, int64_t begin,
                            int64_t depth, float* packed) {
    return make_block(p, row, num_rows, begin, depth, packed);
  }
};

inline void multiply(const Product& p, float* scratch) {
  multiply_blocks<Fp32Operands>(p, scratch);
}

/// The same product with operands that are rounded to bf16.
inline void multiply_bf16(const Product& p, float* scratch) {
  const FlushedSubnormals flushed;
  multiply_blocks<Bf16Operands>(p, scratch);
}

}  // namespace trainer::cpu::TRAINER_ISA
