// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/operands.h"
#include "trainer/network/constants.h"

#include "cpu/columns.h"
#include "cpu/norm_epsilon.h"
#include "cpu/vector.h"

// Ioffe and Szegedy, arXiv:1502.03167.
namespace trainer::cpu::TRAINER_ISA {

// values = (values + shift) * inverse_std
inline void normalize_columns(const Tile& tile, const NormBuffers& b, int64_t begin, int64_t count,
                              const float* shift) {
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    float* row = b.values + i * tile.stride + begin;
    const float* inverse_std = b.inverse_std + begin;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < count; ++j) row[j] = (row[j] + shift[j]) * inverse_std[j];
  }
}

inline void batch_norm(const Tile& tile, const NormBuffers& b) {
  const auto n = static_cast<double>(tile.num_rows);
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    const float* values = b.values + begin;
    double means[kColumnBlock];
    double variances[kColumnBlock];
    float shift[kColumnBlock];
    sum_columns(tile.num_rows, count, means, [&](int64_t i, int64_t j) {
      return static_cast<double>(values[i * tile.stride + j]);
    });
    for (int64_t j = 0; j < count; ++j) means[j] /= n;
    sum_columns(tile.num_rows, count, variances, [&](int64_t i, int64_t j) {
      const double distance = static_cast<double>(values[i * tile.stride + j]) - means[j];
      return distance * distance;
    });
    for (int64_t j = 0; j < count; ++j) {
      // The bias of the linear layer changes the mean only.
      const double mean = means[j] + static_cast<double>(b.bias[begin + j]);
      const double variance = variances[j] / n;
      shift[j] = static_cast<float>(-means[j]);
      b.inverse_std[begin + j] =
          static_cast<float>(1.0 / __builtin_sqrt(variance + static_cast<double>(kEpsilon)));
      const auto update_running = [&](const TensorMemory& running, double measured) {
        running.update[begin + j] = static_cast<float>(
            (1 - network::kBatchNormMomentum) * static_cast<double>(running.value[begin + j]) +
            network::kBatchNormMomentum * measured);
      };
      update_running(b.running_mean, mean);
      update_running(b.running_var, variances[j] / (n - 1));
    }
    normalize_columns(tile, b, begin, count, shift);
  });
}

inline void frozen_batch_norm(const Tile& tile, const NormBuffers& b) {
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    float shift[kColumnBlock];
    for (int64_t j = 0; j < count; ++j) {
      shift[j] = b.bias[begin + j] - b.running_mean.value[begin + j];
      b.inverse_std[begin + j] = 1.0f / __builtin_sqrtf(b.running_var.value[begin + j] + kEpsilon);
    }
    normalize_columns(tile, b, begin, count, shift);
  });
}

// With g the gradient and x the normalized values, means over the batch:
//   out = scale * inverse_std * (g - mean(g) - x * mean(g x))
inline void batch_norm_gradient(const Tile& tile, const NormGradientBuffers& b) {
  const auto n = static_cast<double>(tile.num_rows);
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    const float* gradient = b.gradient + begin;
    const float* normalized = b.normalized + begin;
    double sums[kColumnBlock];
    double products[kColumnBlock];
    sum_columns(tile.num_rows, count, sums, [&](int64_t i, int64_t j) {
      return static_cast<double>(gradient[i * tile.stride + j]);
    });
    sum_columns(tile.num_rows, count, products, [&](int64_t i, int64_t j) {
      const int64_t at = i * tile.stride + j;
      return static_cast<double>(gradient[at]) * static_cast<double>(normalized[at]);
    });
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
