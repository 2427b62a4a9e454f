// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/base/parallel/cpus.h"
#include "trainer/config/types.h"
#include "trainer/nn/cpu/operands.h"

/// The arithmetic of training on the CPU, on plain memory. Each function is compiled once for every
/// instruction set. The order of every sum depends neither on the instruction set nor on how the
/// work is divided, so any number of threads gives the same bits.
namespace trainer::cpu {

enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

/// The table of kernels that are compiled for one instruction set.
struct Kernels {
  InstructionSet instruction_set = InstructionSet::kBaseline;
  const char* name = "baseline";
  int64_t panel_columns = 0;   // columns of C per packed panel of B
  int64_t tile_rows = 0;       // the most rows of C that the inner kernel computes together
  int64_t panel_depth = 0;     // the most rows of B in a packed panel
  int64_t scratch_floats = 0;  // scratch memory that a product needs

  void (*multiply)(const Product& product, float* scratch) = nullptr;
  /// The same product with operands rounded to bf16 and sums in float32. The value of
  /// `bf16_products` alone determines the bits, not the instruction set (nn/cpu/bf16.h).
  void (*multiply_bf16)(const Product& product, float* scratch) = nullptr;
  Bf16Products bf16_products = Bf16Products::kPairs;
  bool has_bf16 = false;  // the CPU has instructions for bf16 products
  void (*gather)(const GatherSource& source, const int64_t* rows, const Tile& tile,
                 float* out) = nullptr;
  /// Writes the dropout factors of a tile that begins at row `first_row` of a layer: 0, or 1 / (1 -
  /// probability).
  void (*make_noise)(const NoiseSource& source, int64_t first_row, const Tile& tile,
                     float* out) = nullptr;
  /// Writes 1 where make_noise() keeps a value, else 0.
  void (*make_mask)(const NoiseSource& source, int64_t first_row, const Tile& tile,
                    uint8_t* out) = nullptr;
  void (*activate)(config::Activation kind, const Tile& tile,
                   const ActivationBuffers& buffers) = nullptr;
  /// out = gradient * noise * activation'(u), where `gradient` is the gradient with respect to the
  /// output of the layer, and u is defined at ActivationBuffers.
  void (*activation_gradient)(config::Activation kind, const Tile& tile,
                              const ActivationBuffers& buffers, const float* gradient) = nullptr;
  void (*batch_norm)(const Tile& tile,
                     const NormBuffers& buffers) = nullptr;  // also updates the running statistics
  /// The two steps of batch_norm() for a batch in several shards: the moments of the rows of one
  /// shard, then the normalization with the merged moments of all `num_rows` rows.
  void (*batch_norm_moments)(const Tile& tile, const float* values,
                             const ColumnMoments& moments) = nullptr;
  void (*batch_norm_with)(const Tile& tile, const NormBuffers& buffers,
                          const ColumnMoments& moments, int64_t num_rows) = nullptr;
  void (*frozen_batch_norm)(const Tile& tile, const NormBuffers& buffers) = nullptr;
  void (*layer_norm)(const Tile& tile, const NormBuffers& buffers) = nullptr;
  void (*batch_norm_gradient)(const Tile& tile, const NormGradientBuffers& buffers) = nullptr;
  /// The two steps of batch_norm_gradient() for a batch in several shards: the sums over the rows
  /// of one shard, then the gradient with the merged sums of all `num_rows` rows.
  void (*batch_norm_gradient_sums)(const Tile& tile, const NormGradientBuffers& buffers,
                                   const ColumnGradients& sums) = nullptr;
  void (*batch_norm_gradient_with)(const Tile& tile, const NormGradientBuffers& buffers,
                                   const ColumnGradients& sums, int64_t num_rows) = nullptr;
  void (*frozen_batch_norm_gradient)(const Tile& tile,
                                     const NormGradientBuffers& buffers) = nullptr;
  void (*layer_norm_gradient)(const Tile& tile, const NormGradientBuffers& buffers) = nullptr;
  /// out[j] = sum of x[i][j] * y[i][j], or of x[i][j] if `y` is null. `x` is the tile, and the rows
  /// of `y` are `y_stride` elements apart.
  void (*column_sums)(const Tile& tile, const float* x, const float* y, int64_t y_stride,
                      float* out, Accumulate accumulate) = nullptr;
  void (*cross_entropy)(const LossInput& input, const int64_t* classes,
                        const LossOutput& output) = nullptr;
  void (*binary_cross_entropy)(const LossInput& input, const int64_t* classes,
                               const LossOutput& output) = nullptr;
  /// kMse, kL1 or kHuber; `values` are `[rows, columns]`.
  void (*regression_loss)(config::Loss kind, const LossInput& input, const float* values,
                          const LossOutput& output) = nullptr;
  double (*sum_of_squares)(const float* values, int64_t size) = nullptr;
  void (*update)(const UpdateOptions& options, const UpdateBuffers& buffers) = nullptr;
  /// Writes `out` `[num_rows, size]`, whose rows are `operands.stride` floats apart.
  void (*periodic_embedding)(int64_t num_rows, const PeriodicOperands& operands,
                             float* out) = nullptr;
  void (*periodic_embedding_gradient)(int64_t num_rows, const PeriodicOperands& operands,
                                      const PeriodicGradients& gradients) = nullptr;
  void (*piecewise_embedding)(int64_t num_rows, const PiecewiseOperands& operands,
                              float* out) = nullptr;
  void (*piecewise_embedding_gradient)(int64_t num_rows, const PiecewiseOperands& operands,
                                       const PiecewiseGradients& gradients) = nullptr;
};

/// The kernels for the best instruction set of this machine. For tests and measurements, the
/// environment variable TRAINER_INSTRUCTION_SET can name another one; throws as find_kernels()
/// does.
const Kernels& kernels();

/// All kernels that this machine can run, from the baseline to the best.
std::vector<const Kernels*> all_kernels();

/// The kernels with this name: "baseline", "avx2", "avx512", "avx512_bf16", "amx" or "neon_bf16".
/// Throws Error(kUsage) if this machine cannot run them.
const Kernels& find_kernels(const std::string& name);

/// The usual name of an instruction set, for messages: "AVX2", "AVX-512", or "NEON" for the
/// baseline of Arm.
const char* instruction_set_name(InstructionSet set);

}  // namespace trainer::cpu
