// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/shard_sums.h"
#include "nn/cpu/vector.h"

// The piecewise-linear embedding of one feature (nn/spec/layers.h). The bins before that of x add
// their whole row of the weight, later bins add nothing. With precomputed sums over the bins before
// each bin, a value costs as much as a single bin.
namespace trainer::cpu::TRAINER_ISA {

// Counts the bins that are wider than zero. All bins of width zero come last.
inline int64_t count_bins(const PiecewiseOperands& p) {
  int64_t count = 0;
  while (count < p.num_bins && p.edges[count + 1] > p.edges[count]) ++count;
  return count;
}

struct PlaceInBin {
  int64_t bin;
  // Position within the bin, 0 to 1; below 0 only in the first bin, above 1 only in the last one.
  float part;
};

inline PlaceInBin find_bin(const float* edges, int64_t num_bins, float x) {
  int32_t bin = 0;
  for (int64_t t = 1; t < num_bins; ++t) bin += x >= edges[t] ? 1 : 0;
  return {bin, (x - edges[bin]) / (edges[bin + 1] - edges[bin])};
}

inline void piecewise_embedding(int64_t num_rows, const PiecewiseOperands& p, float* out) {
  const int64_t size = p.size;
  const int64_t num_bins = count_bins(p);
  float before[kMaxBins * kMaxNumericSize];  // [bins, size] bias plus all bins before each bin
  for (int64_t j = 0; j < size; ++j) before[j] = p.bias[j];
  for (int64_t i = size; i < num_bins * size; ++i)
    before[i] = before[i - size] + p.weight[i - size];
  for (int64_t row = 0; row < num_rows; ++row, out += p.stride) {
    const float x = p.values[row * p.stride];
    if (num_bins == 0) {
      for (int64_t j = 0; j < size; ++j) out[j] = x * p.slope[j] + p.bias[j];
      continue;
    }
    const PlaceInBin place = find_bin(p.edges, num_bins, x);
    const float* base = before + place.bin * size;
    const float* weight = p.weight + place.bin * size;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < size; ++j) {
      out[j] = x * p.slope[j] + base[j] + place.part * weight[j];
    }
  }
}

/// Sums over the rows that fall into each bin, `[bins, size]`.
struct BinSums {
  float* gradients;
  float* parts;  // gradients times the position within the bin
  float* slope;  // [size] gradients times x
};

inline void add_piecewise_rows(int64_t num_rows, const PiecewiseOperands& p,
                               const PiecewiseGradients& g, int64_t num_bins, const BinSums& sums) {
  const float* gradient = g.gradient;
  for (int64_t row = 0; row < num_rows; ++row, gradient += g.stride) {
    const float x = p.values[row * p.stride];
    PlaceInBin place{0, 0.0f};
    if (num_bins > 0) place = find_bin(p.edges, num_bins, x);
    float* gradients = sums.gradients + place.bin * p.size;
    float* parts = sums.parts + place.bin * p.size;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < p.size; ++j) {
      gradients[j] += gradient[j];
      parts[j] += gradient[j] * place.part;
      sums.slope[j] += gradient[j] * x;
    }
  }
}

inline void piecewise_embedding_gradient(int64_t num_rows, const PiecewiseOperands& p,
                                         const PiecewiseGradients& g) {
  const int64_t num_bins = count_bins(p);
  float gradients[kMaxBins * kMaxNumericSize];
  float parts[kMaxBins * kMaxNumericSize];
  float slope[kMaxNumericSize];
  for (int64_t i = 0; i < p.num_bins * p.size; ++i) gradients[i] = parts[i] = 0.0f;
  for (int64_t j = 0; j < p.size; ++j) slope[j] = 0.0f;
  add_piecewise_rows(num_rows, p, g, num_bins, {gradients, parts, slope});
  for (int64_t j = 0; j < p.size; ++j) {
    float later = 0.0f;  // sum of the gradients of rows in later bins
    for (int64_t t = p.num_bins - 1; t >= 0; --t) {
      const int64_t i = t * p.size + j;
      if (g.weight != nullptr) {
        write_sum(g.weight + i, t < num_bins ? parts[i] + later : 0.0f, g.accumulate);
      }
      later += gradients[i];
    }
    if (g.bias != nullptr) write_sum(g.bias + j, later, g.accumulate);
    if (g.slope != nullptr) write_sum(g.slope + j, slope[j], g.accumulate);
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
