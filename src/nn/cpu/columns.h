// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

// The number of columns that are summed together, in double precision.
inline constexpr int64_t kColumnBlock = 16;

/// Sums over the rows of a tile for up to kColumnBlock columns: out[j] = sum of value(row, j).
template <class Value>
void sum_columns(int64_t num_rows, int64_t num_columns, double* out, const Value& value) {
  double sums[kColumnBlock] = {};
  for (int64_t i = 0; i < num_rows; ++i) {
    if (num_columns == kColumnBlock) {
      for (int64_t j = 0; j < kColumnBlock; ++j) sums[j] += value(i, j);
    } else {
      for (int64_t j = 0; j < num_columns; ++j) sums[j] += value(i, j);
    }
  }
  for (int64_t j = 0; j < num_columns; ++j) out[j] = sums[j];
}

/// Calls body(first column, number of columns) for blocks of at most kColumnBlock columns.
template <class Body>
void for_each_column_block(const Tile& tile, const Body& body) {
  for (int64_t begin = 0; begin < tile.num_columns; begin += kColumnBlock) {
    body(begin, smaller(kColumnBlock, tile.num_columns - begin));
  }
}

// Sums in float, because the results are gradients, which need no more precision than the products.
inline void column_sums(const Tile& tile, const float* x, const float* y, int64_t y_stride,
                        float* out, Accumulate accumulate) {
  if (accumulate == Accumulate::kNo) {
    for (int64_t j = 0; j < tile.num_columns; ++j) out[j] = 0.0f;
  }
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const float* x_row = x + i * tile.stride;
    if (y == nullptr) {
      TRAINER_INDEPENDENT
      for (int64_t j = 0; j < tile.num_columns; ++j) out[j] += x_row[j];
    } else {
      const float* y_row = y + i * y_stride;
      TRAINER_INDEPENDENT
      for (int64_t j = 0; j < tile.num_columns; ++j) out[j] += x_row[j] * y_row[j];
    }
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
