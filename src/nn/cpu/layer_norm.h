// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/norm_epsilon.h"
#include "nn/cpu/vector.h"

// Layer normalization after Ba, Kiros and Hinton, arXiv:1607.06450.
namespace trainer::cpu::TRAINER_ISA {

inline void layer_norm(const Tile& tile, const NormBuffers& b) {
  const auto n = static_cast<float>(tile.num_columns);
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    float* row = b.values + i * tile.stride;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < tile.num_columns; ++j) row[j] += b.bias[j];
    const float mean = sum_over(tile.num_columns, [&](int64_t j) { return row[j]; }) / n;
    for (int64_t j = 0; j < tile.num_columns; ++j) row[j] -= mean;
    const float variance =
        sum_over(tile.num_columns, [&](int64_t j) { return row[j] * row[j]; }) / n;
    const float inverse_std = 1.0f / __builtin_sqrtf(variance + kEpsilon);
    for (int64_t j = 0; j < tile.num_columns; ++j) row[j] *= inverse_std;
    b.inverse_std[i] = inverse_std;
  }
}

// As for batch norm (batch_norm.h), with scale * g instead of g and means over the
// features.
inline void layer_norm_gradient(const Tile& tile, const NormGradientBuffers& b) {
  const auto n = static_cast<float>(tile.num_columns);
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const float* gradient = b.gradient + i * tile.stride;
    const float* x = b.normalized + i * tile.stride;
    float* out = b.out + i * tile.stride;
    const float mean =
        sum_over(tile.num_columns, [&](int64_t j) { return gradient[j] * b.scale[j]; }) / n;
    const float slope =
        sum_over(tile.num_columns, [&](int64_t j) { return gradient[j] * b.scale[j] * x[j]; }) / n;
    const float inverse_std = b.inverse_std[i];
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < tile.num_columns; ++j) {
      out[j] = inverse_std * (gradient[j] * b.scale[j] - mean - x[j] * slope);
    }
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
