// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/cpu/product.h"

namespace trainer::cpu {

// The largest that the kernels compute; the configuration has the same bounds.
inline constexpr int64_t kMaxNumericSize = 64;  // of the embedding of a number
inline constexpr int64_t kMaxFrequencies = 64;
inline constexpr int64_t kMaxBins = 128;

/// The periodic embedding of one feature; see network::PeriodicEmbedding.
struct PeriodicOperands {
  int64_t num_frequencies = 0;
  int64_t size = 0;
  const float* values = nullptr;  // of the feature, `stride` elements apart
  int64_t stride = 0;
  const float* frequencies = nullptr;  // [num_frequencies]
  const float* phases = nullptr;       // [num_frequencies]
  const float* weight = nullptr;       // [num_frequencies, size]
  const float* bias = nullptr;         // [size]
};

/// The gradients of its parameters; null: not wanted.
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
  const float* values = nullptr;  // of the feature, `stride` elements apart
  int64_t stride = 0;
  const float* edges = nullptr;   // [num_bins + 1] ascending
  const float* slope = nullptr;   // [size]
  const float* weight = nullptr;  // [num_bins, size]
  const float* bias = nullptr;    // [size]
};

/// The gradients of its parameters; null: not wanted.
struct PiecewiseGradients {
  const float* gradient = nullptr;  // [rows, size] with respect to the embedding
  int64_t stride = 0;
  float* slope = nullptr;
  float* weight = nullptr;
  float* bias = nullptr;
  Accumulate accumulate = Accumulate::kNo;
};

}  // namespace trainer::cpu
