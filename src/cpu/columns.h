// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/operands.h"

#include "cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

// Columns are summed this many at a time, in double.
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

/// Calls body(first column, number of columns) for blocks of columns.
template <class Body>
void for_each_column_block(const Tile& tile, const Body& body) {
  for (int64_t begin = 0; begin < tile.num_columns; begin += kColumnBlock) {
    body(begin, smaller(kColumnBlock, tile.num_columns - begin));
  }
}

inline void column_sums(const Tile& tile, const float* x, const float* y, float* out, bool adds) {
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    double sums[kColumnBlock];
    if (y == nullptr) {
      sum_columns(tile.num_rows, count, sums, [&](int64_t i, int64_t j) {
        return static_cast<double>(x[i * tile.stride + begin + j]);
      });
    } else {
      sum_columns(tile.num_rows, count, sums, [&](int64_t i, int64_t j) {
        const int64_t at = i * tile.stride + begin + j;
        return static_cast<double>(x[at]) * static_cast<double>(y[at]);
      });
    }
    for (int64_t j = 0; j < count; ++j) {
      out[begin + j] = static_cast<float>(sums[j]) + (adds ? out[begin + j] : 0.0f);
    }
  });
}

}  // namespace trainer::cpu::TRAINER_ISA
