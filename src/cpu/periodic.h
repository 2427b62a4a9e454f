// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/periodic_operands.h"

#include "cpu/math.h"
#include "cpu/vector.h"

// The periodic embedding of one feature: cos(2 pi x w + p) V + b for each row (network/layers.h).
// The loops are over 16 rows at a time; a row that is missing in the last ones has the gradient 0.
namespace trainer::cpu::TRAINER_ISA {

inline constexpr int64_t kPeriodicRows = 16;
inline constexpr int64_t kMaxPeriodicSize = 64;
inline constexpr float kTwoPi = 6.28318531f;

struct PeriodicLanes {
  float lanes[kPeriodicRows] = {};

  void load(const float* from, int64_t stride, int64_t count) {
    for (int64_t l = 0; l < count; ++l) lanes[l] = from[l * stride];
    for (int64_t l = count; l < kPeriodicRows; ++l) lanes[l] = 0.0f;
  }

  // From pairs to the whole, in the same order on every machine.
  float total() const {
    float sum[kPeriodicRows];
    for (int64_t l = 0; l < kPeriodicRows; ++l) sum[l] = lanes[l];
    for (int64_t half = kPeriodicRows / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half; ++l) sum[l] += sum[l + half];
    }
    return sum[0];
  }
};

inline void periodic_embedding(int64_t num_rows, const PeriodicOperands& p, float* out) {
  for (int64_t row = 0; row < num_rows; row += kPeriodicRows) {
    const int64_t count = smaller(kPeriodicRows, num_rows - row);
    PeriodicLanes x;
    x.load(p.values + row * p.stride, p.stride, count);
    PeriodicLanes sums[kMaxPeriodicSize];
    for (int64_t c = 0; c < p.size; ++c) {
      for (int64_t l = 0; l < kPeriodicRows; ++l) sums[c].lanes[l] = p.bias[c];
    }
    for (int64_t k = 0; k < p.num_frequencies; ++k) {
      const float w = p.frequencies[k] * kTwoPi;
      const float phase = p.phases[k];
      float cosine[kPeriodicRows];
      for (int64_t l = 0; l < kPeriodicRows; ++l) cosine[l] = cos(x.lanes[l] * w + phase);
      for (int64_t c = 0; c < p.size; ++c) {
        const float v = p.weight[k * p.size + c];
        for (int64_t l = 0; l < kPeriodicRows; ++l) sums[c].lanes[l] += cosine[l] * v;
      }
    }
    for (int64_t c = 0; c < p.size; ++c) {
      for (int64_t l = 0; l < count; ++l) out[(row + l) * p.stride + c] = sums[c].lanes[l];
    }
  }
}

inline void add_or_set(float* to, float value, Accumulate accumulate) {
  if (to != nullptr) *to = accumulate == Accumulate::kYes ? *to + value : value;
}

inline void periodic_embedding_gradient(int64_t num_rows, const PeriodicOperands& p,
                                        const PeriodicGradients& g) {
  for (int64_t c = 0; c < p.size; ++c) {
    PeriodicLanes sum;
    for (int64_t row = 0; row < num_rows; row += kPeriodicRows) {
      PeriodicLanes out;
      out.load(g.gradient + row * g.stride + c, g.stride, smaller(kPeriodicRows, num_rows - row));
      for (int64_t l = 0; l < kPeriodicRows; ++l) sum.lanes[l] += out.lanes[l];
    }
    if (g.bias != nullptr) add_or_set(g.bias + c, sum.total() * g.scale[c], g.accumulate);
  }
  for (int64_t k = 0; k < p.num_frequencies; ++k) {
    const float w = p.frequencies[k] * kTwoPi;
    const float phase = p.phases[k];
    PeriodicLanes frequency, phases, weights[kMaxPeriodicSize];
    for (int64_t row = 0; row < num_rows; row += kPeriodicRows) {
      const int64_t count = smaller(kPeriodicRows, num_rows - row);
      PeriodicLanes x;
      x.load(p.values + row * p.stride, p.stride, count);
      float cosine[kPeriodicRows], sine[kPeriodicRows], back[kPeriodicRows] = {};
      for (int64_t l = 0; l < kPeriodicRows; ++l) {
        const float angle = x.lanes[l] * w + phase;
        cosine[l] = cos(angle);
        sine[l] = sin(angle);
      }
      for (int64_t c = 0; c < p.size; ++c) {
        const float v = p.weight[k * p.size + c] * g.scale[c];
        PeriodicLanes out;
        out.load(g.gradient + row * g.stride + c, g.stride, count);
        for (int64_t l = 0; l < kPeriodicRows; ++l) {
          weights[c].lanes[l] += cosine[l] * out.lanes[l];
          back[l] += out.lanes[l] * v;
        }
      }
      for (int64_t l = 0; l < kPeriodicRows; ++l) {
        const float slope = -sine[l] * back[l];
        phases.lanes[l] += slope;
        frequency.lanes[l] += slope * x.lanes[l];
      }
    }
    if (g.frequencies != nullptr) {
      add_or_set(g.frequencies + k, frequency.total() * kTwoPi, g.accumulate);
    }
    if (g.phases != nullptr) add_or_set(g.phases + k, phases.total(), g.accumulate);
    if (g.weight == nullptr) continue;
    for (int64_t c = 0; c < p.size; ++c) {
      add_or_set(g.weight + k * p.size + c, weights[c].total() * g.scale[c], g.accumulate);
    }
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
