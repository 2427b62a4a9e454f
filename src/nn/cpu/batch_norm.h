// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"
#include "trainer/nn/spec/layers.h"

#include "nn/cpu/columns.h"
#include "nn/cpu/norm_epsilon.h"
#include "nn/cpu/vector.h"

// Batch normalization after Ioffe and Szegedy, arXiv:1502.03167, forward and backward.

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

// Computes the mean and the sum of squared distances of `count` columns from `begin` on. Without
// rows both are zero.
inline void moments_of_block(const Tile& tile, const float* values, int64_t begin, int64_t count,
                             double* means, double* squares) {
  const float* column = values + begin;
  const double n = tile.num_rows > 0 ? static_cast<double>(tile.num_rows) : 1.0;
  sum_columns(tile.num_rows, count, means, [&](int64_t i, int64_t j) {
    return static_cast<double>(column[i * tile.stride + j]);
  });
  for (int64_t j = 0; j < count; ++j) means[j] /= n;
  sum_columns(tile.num_rows, count, squares, [&](int64_t i, int64_t j) {
    const double distance = static_cast<double>(column[i * tile.stride + j]) - means[j];
    return distance * distance;
  });
}

// Normalizes `count` columns from `begin` on with moments over `num_rows` rows, and updates the
// running statistics.
inline void normalize_block(const Tile& tile, const NormBuffers& b, int64_t begin, int64_t count,
                            const double* means, const double* squares, int64_t num_rows) {
  const auto n = static_cast<double>(num_rows);
  float shift[kColumnBlock];
  for (int64_t j = 0; j < count; ++j) {
    // The bias of the linear layer changes the mean only.
    const double mean = means[j] + static_cast<double>(b.bias[begin + j]);
    const double variance = squares[j] / n;
    shift[j] = static_cast<float>(-means[j]);
    b.inverse_std[begin + j] =
        static_cast<float>(1.0 / __builtin_sqrt(variance + static_cast<double>(kEpsilon)));
    const auto update_running = [&](const TensorMemory& running, double measured) {
      running.update[begin + j] = static_cast<float>(
          (1 - network::kBatchNormMomentum) * static_cast<double>(running.value[begin + j]) +
          network::kBatchNormMomentum * measured);
    };
    update_running(b.running_mean, mean);
    update_running(b.running_var, squares[j] / (n - 1));
  }
  normalize_columns(tile, b, begin, count, shift);
}

inline void batch_norm(const Tile& tile, const NormBuffers& b) {
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    double means[kColumnBlock];
    double squares[kColumnBlock];
    moments_of_block(tile, b.values, begin, count, means, squares);
    normalize_block(tile, b, begin, count, means, squares, tile.num_rows);
  });
}

inline void batch_norm_moments(const Tile& tile, const float* values,
                               const ColumnMoments& moments) {
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    moments_of_block(tile, values, begin, count, moments.means + begin, moments.squares + begin);
  });
}

inline void batch_norm_with(const Tile& tile, const NormBuffers& b, const ColumnMoments& moments,
                            int64_t num_rows) {
  for_each_column_block(tile, [&](int64_t begin, int64_t count) {
    normalize_block(tile, b, begin, count, moments.means + begin, moments.squares + begin,
                    num_rows);
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
