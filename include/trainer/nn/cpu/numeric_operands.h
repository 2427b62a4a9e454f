// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/nn/cpu/product.h"

namespace trainer::cpu {

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

}  // namespace trainer::cpu
