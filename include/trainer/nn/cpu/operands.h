// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainer/config/optimizer_config.h"
#include "trainer/nn/cpu/product.h"

/// Operands of the functions in nn/cpu/kernels.h: views of memory, which they do not own.

namespace trainer::cpu {

/// The memory of a tensor of a network. Training writes to `update`: the gradient of a parameter,
/// or the running statistic itself. It is null if the tensor is not trained.
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
  /// Tile of terms that activation_gradient() writes; their sum over the rows is the gradient of
  /// `mix`. Null means that it is not wanted.
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
      nullptr;  // [features] reciprocal limits of the smooth clip (data::Scaling); null: no clip
};

/// The parameters of dropout noise. Each random number depends only on these values and on its row
/// and column.
struct NoiseSource {
  uint64_t seed = 0;
  uint32_t layer = 0;
  double probability = 0;  // that an element is 0; all others are 1 / (1 - probability)
};

/// The outputs of a network, `[rows, columns]`. A loss kernel adds `bias` before it computes the
/// loss.
struct LossInput {
  Tile tile;
  int64_t num_members = 1;   // consecutive rows that belong to one sample
  float* outputs = nullptr;  // overwritten: by the gradient if `wants_gradient`
  const float* bias = nullptr;
  const float* weights = nullptr;  // [rows] factors of the losses; null: ones
  double label_smoothing = 0;      // used by cross_entropy only
  double huber_delta = 1;
  bool wants_gradient = true;
  float gradient_scale = 1;
};

/// The memory for the results of a loss kernel.
struct LossOutput {
  float* losses = nullptr;  // [rows]
  /// [rows] 1 where the predicted class is the target, else 0; 0 for a regression.
  int32_t* correct = nullptr;
};

/// The buffers of a batch or layer norm of one tile. On input, `values` are the outputs of the
/// linear layer without bias; on output, the normalized values.
struct NormBuffers {
  float* values = nullptr;
  const float* bias = nullptr;   // [columns]
  float* inverse_std = nullptr;  // [columns] for a batch norm, [rows] for a layer norm
  TensorMemory running_mean;     // [columns], batch norm only
  TensorMemory running_var;
};

/// The mean of each column over some rows, and the sum of the squared distances from it.
struct ColumnMoments {
  double* means = nullptr;    // [columns]
  double* squares = nullptr;  // [columns]
};

/// The sums of each column over some rows: of the gradient, and of the gradient times the
/// normalized values.
struct ColumnGradients {
  double* sums = nullptr;      // [columns]
  double* products = nullptr;  // [columns]
};

/// The inputs and outputs of the backward pass of a norm.
struct NormGradientBuffers {
  const float* normalized = nullptr;   // tile
  const float* scale = nullptr;        // [columns] weight of the norm
  const float* inverse_std = nullptr;  // as in NormBuffers
  const float* gradient = nullptr;     // tile, with respect to the norm's output
  /// Tile, with respect to the norm's input; may be the memory of `gradient`.
  float* out = nullptr;
  float* scale_gradient = nullptr;  // [columns], batch norm only; null: not wanted
  float* shift_gradient = nullptr;
  Accumulate accumulate = Accumulate::kNo;  // whether to add to the two gradients above
};

/// `size` consecutive parameters with their gradients, moments and moving average.
struct UpdateBuffers {
  int64_t size = 0;
  float* values = nullptr;
  const float* gradients = nullptr;
  float* first_moment = nullptr;   // momentum buffer, or mean of the gradients; null: none
  float* second_moment = nullptr;  // mean of the squared gradients
  float* average = nullptr;        // moving average of the values; null: none
};

/// The settings of one optimizer step for some parameters.
struct UpdateOptions {
  config::OptimizerConfig optimizer;
  double gradient_factor = 1;  // multiplies the gradients, to clip them
  double learning_rate = 0;
  double ema_decay = 0;          // decay of the moving average of the values
  double mean_correction = 1;    // bias correction of Adam's mean in step t: 1 - beta1^t
  double square_correction = 1;  // bias correction of its mean of squares: 1 - beta2^t
};

// The largest sizes that the kernels support; the configuration has the same bounds.
inline constexpr int64_t kMaxNumericSize = 64;  // length of the embedding of one number
inline constexpr int64_t kMaxFrequencies = 64;
inline constexpr int64_t kMaxBins = 128;

/// The periodic embedding of one feature; see network::PeriodicEmbedding.
struct PeriodicOperands {
  int64_t num_frequencies = 0;
  int64_t size = 0;
  const float* values = nullptr;  // values of the feature, `stride` elements apart
  int64_t stride = 0;
  const float* frequencies = nullptr;  // [num_frequencies]
  const float* phases = nullptr;       // [num_frequencies]
  const float* weight = nullptr;       // [num_frequencies, size]
  const float* bias = nullptr;         // [size]
};

/// The gradients of the parameters of a periodic embedding, in the shapes of PeriodicOperands; null
/// means that a gradient is not wanted.
struct PeriodicGradients {
  const float* gradient = nullptr;  // [rows, size] with respect to the embedding
  int64_t stride = 0;
  float* frequencies = nullptr;
  float* phases = nullptr;
  float* weight = nullptr;
  float* bias = nullptr;
  Accumulate accumulate = Accumulate::kNo;
};

/// The piecewise-linear embedding of one feature; see network::PiecewiseEmbedding.
struct PiecewiseOperands {
  int64_t num_bins = 0;
  int64_t size = 0;
  const float* values = nullptr;  // values of the feature, `stride` elements apart
  int64_t stride = 0;
  const float* edges = nullptr;   // [num_bins + 1] ascending
  const float* slope = nullptr;   // [size]
  const float* weight = nullptr;  // [num_bins, size]
  const float* bias = nullptr;    // [size]
};

/// The gradients of the parameters of a piecewise-linear embedding, in the shapes of
/// PiecewiseOperands; null means that a gradient is not wanted.
struct PiecewiseGradients {
  const float* gradient = nullptr;  // [rows, size] with respect to the embedding
  int64_t stride = 0;
  float* slope = nullptr;
  float* weight = nullptr;
  float* bias = nullptr;
  Accumulate accumulate = Accumulate::kNo;
};

/// The division of a matrix into tiles, which are distributed among the threads.
struct TileGrid {
  int64_t num_rows = 0;
  int64_t num_columns = 0;
  int64_t tile_rows = 1;  // height of a tile; the last row of tiles may be lower
  int64_t tile_columns = 1;
  int64_t grid_rows = 0;  // tiles from top to bottom
  int64_t grid_columns = 0;

  int64_t num_tiles() const { return grid_rows * grid_columns; }
};

/// One tile of a matrix, with its first row and column.
struct Region {
  int64_t row = 0;
  int64_t column = 0;
  Tile tile;
};

/// Returns the tile with this index, counted row by row, for a matrix whose rows are `stride`
/// elements apart.
inline Region tile_region(const TileGrid& grid, int64_t index, int64_t stride) {
  Region region;
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a grid without columns has no tile
  region.row = index / grid.grid_columns * grid.tile_rows;
  region.column = index % grid.grid_columns * grid.tile_columns;
  region.tile = {std::min(grid.tile_rows, grid.num_rows - region.row),
                 std::min(grid.tile_columns, grid.num_columns - region.column), stride};
  return region;
}

}  // namespace trainer::cpu
