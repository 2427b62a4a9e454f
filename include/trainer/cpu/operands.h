// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/config/optimizer_config.h"
#include "trainer/cpu/product.h"

/// Operands of the functions in cpu/kernels.h: views of memory, which they do not own.
namespace trainer::cpu {

/// Where a tensor of a network is in memory, and where training writes: to the gradient of a
/// parameter, or to a running statistic itself. `update` is null if the tensor is not trained.
struct TensorMemory {
  const float* value = nullptr;
  float* update = nullptr;
};

/// The size of a block of a matrix whose rows are `stride` elements apart.
struct Tile {
  int64_t num_rows = 0;
  int64_t num_columns = 0;
  int64_t stride = 0;
};

/// Norm scale, activation, dropout and residual of a hidden layer, on one tile. With
/// u = scale * pre + shift:
///   out = (u + (activation(u) - u) * mix) * noise + skip
struct ActivationBuffers {
  const float* pre = nullptr;    // tile
  const float* scale = nullptr;  // [columns]; null: ones
  const float* shift = nullptr;  // [columns]
  const float* mix = nullptr;    // [columns]; null: ones
  const float* noise = nullptr;  // tile; null: ones
  const float* skip = nullptr;   // tile; null: zeros
  float* out = nullptr;          // tile
  /// Tile: what activation_gradient() adds to the gradient of `mix`; null: not wanted.
  float* mix_gradients = nullptr;
};

/// A matrix to gather rows from: of bytes if `bytes` is set, else of float32 values.
struct GatherSource {
  const float* floats = nullptr;
  const uint8_t* bytes = nullptr;
  int64_t num_features = 0;
  const float* shift = nullptr;  // [features]
  const float* scale = nullptr;  // [features]
  const float* inverse_limit =
      nullptr;  // [features] of the smooth clip (data::Scaling); null: none
};

/// The random numbers of dropout. Each is a function of these values and its row and column.
struct NoiseSource {
  uint64_t seed = 0;
  uint32_t layer = 0;
  double probability = 0;  // of a zero; other elements are 1 / (1 - probability)
};

/// Outputs `[rows, columns]`, to which a loss adds `bias` first.
struct LossInput {
  Tile tile;
  int64_t num_members = 1;   // consecutive rows that belong to one sample
  float* outputs = nullptr;  // overwritten, by the gradient if `wants_gradient`
  const float* bias = nullptr;
  const float* weights = nullptr;  // [rows] of the losses; null: ones
  double label_smoothing = 0;      // of cross_entropy
  double huber_delta = 1;
  bool wants_gradient = true;
  float gradient_scale = 1;
};

/// Where a loss kernel writes.
struct LossOutput {
  float* losses = nullptr;     // [rows]
  int32_t* correct = nullptr;  // [rows] 1 where the target's class is predicted
};

/// Batch or layer norm of one tile; `values` are products without bias and become the normalized
/// values.
struct NormBuffers {
  float* values = nullptr;
  const float* bias = nullptr;   // [columns]
  float* inverse_std = nullptr;  // [columns] of batch norm, [rows] of layer norm
  TensorMemory running_mean;     // [columns], batch norm only
  TensorMemory running_var;
};

/// Of each column over some rows: the mean, and the sum of the squared distances from it.
struct ColumnMoments {
  double* means = nullptr;    // [columns]
  double* squares = nullptr;  // [columns]
};

/// Likewise the sums of the gradient, and of the gradient times the normalized values.
struct ColumnGradients {
  double* sums = nullptr;      // [columns]
  double* products = nullptr;  // [columns]
};

/// What the backward pass of a norm reads and writes.
struct NormGradientBuffers {
  const float* normalized = nullptr;   // tile
  const float* scale = nullptr;        // [columns] the norm's weight
  const float* inverse_std = nullptr;  // as in NormBuffers
  const float* gradient = nullptr;     // tile, with respect to the norm's output
  float* out = nullptr;                // tile, with respect to its input; may be `gradient`
  float* scale_gradient = nullptr;     // [columns], batch norm only; null: not wanted
  float* shift_gradient = nullptr;
  Accumulate accumulate = Accumulate::kNo;  // to the two above
};

/// Consecutive parameters with their gradients, moments and average.
struct UpdateBuffers {
  int64_t size = 0;
  float* values = nullptr;
  const float* gradients = nullptr;
  float* first_moment = nullptr;   // momentum buffer, or mean; null: none
  float* second_moment = nullptr;  // mean of squares
  float* average = nullptr;        // moving average of the values
};

/// The settings of one optimizer step for some parameters.
struct UpdateOptions {
  config::OptimizerConfig optimizer;
  double gradient_factor = 1;  // of clipping
  double learning_rate = 0;
  double ema_decay = 0;          // of the moving average of the values
  double mean_correction = 1;    // of Adam's moments in step t: 1 - beta1^t
  double square_correction = 1;  // and 1 - beta2^t
};

}  // namespace trainer::cpu
