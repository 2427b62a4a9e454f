// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/columns.h"
#include "nn/cpu/vector.h"

// The backward pass of nn/cpu/batch_norm.h.
namespace trainer::cpu::TRAINER_ISA {

inline void gradients_of_block(const Tile& tile, const NormGradientBuffers& b, int64_t begin,
                               int64_t count, double* sums, double* products) {
  const float* gradient = b.gradient + begin;
  const float* normalized = b.normalized + begin;
  sum_columns(tile.num_rows, count, sums, [&](int64_t i, int64_t j) {
    return static_cast<double>(gradient[i * tile.stride + j]);
  });
  sum_columns(tile.num_rows, count, products, [&](int64_t i, int64_t j) {
    const int64_t at = i * tile.stride + j;
    return static_cast<double>(gradient[at]) * static_cast<double>(normalized[at]);
  });
}

// With g the gradient and x the normalized values, means over `num_rows` rows:
//   out = scale * inverse_std * (g - mean(g) - x * mean(g x))
inline void gradient_of_block(const Tile& tile, const NormGradientBuffers& b, int64_t begin,
                              int64_t count, const double* sums, const double* products,
                              int64_t num_rows) {
  const auto n = static_cast<double>(num_rows);
  const float* gradient = b.gradient + begin;
  const float* normalized = b.normalized + begin;
  float factor[kColumnBlock], mean[kColumnBlock], slope[kColumnBlock];
  for (int64_t j = 0; j < count; ++j) {
    factor[j] = b.scale[begin + j] * b.inverse_std[begin + j];
    mean[j] = static_cast<float>(sums[j] / n);
    slope[j] = static_cast<float>(products[j] / n);
  }
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const int64_t at = i * tile.stride;
    float* out = b.out + begin + at;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < count; ++j) {
      out[j] = factor[j] * (gradient[at + j] - mean[j] - normalized[at + j] * slope[j]);
    }
  }
  const bool accumulate = b.accumulate == Accumulate::kYes;
  const auto write = [&](float* to, const double* values) {
    if (to == nullptr) return;
    for (int64_t j = 0; j < count; ++j) {
      to[begin + j] = static_cast<float>(values[j]) + (accumulate ? to[begin + j] : 0.0f);
    }
  };
  write(b.shift_gradient, sums);
  write(b.scale_gradient, products);
}

inline void batch_norm_gradient(const Tile& tile, const NormGradientBuffers& b) {
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    double sums[kColumnBlock];
    double products[kColumnBlock];
    gradients_of_block(tile, b, begin, count, sums, products);
    gradient_of_block(tile, b, begin, count, sums, products, tile.num_rows);
  });
}

inline void batch_norm_gradient_sums(const Tile& tile, const NormGradientBuffers& b,
                                     const ColumnGradients& to) {
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    gradients_of_block(tile, b, begin, count, to.sums + begin, to.products + begin);
  });
}

inline void batch_norm_gradient_with(const Tile& tile, const NormGradientBuffers& b,
                                     const ColumnGradients& from, int64_t num_rows) {
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    gradient_of_block(tile, b, begin, count, from.sums + begin, from.products + begin, num_rows);
  });
}

inline void frozen_batch_norm_gradient(const Tile& tile, const NormGradientBuffers& b) {
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const float* gradient = b.gradient + i * tile.stride;
    float* out = b.out + i * tile.stride;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < tile.num_columns; ++j) {
      out[j] = gradient[j] * b.scale[j] * b.inverse_std[j];
    }
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
