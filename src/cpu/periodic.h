// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/numeric_operands.h"

#include "cpu/math.h"
#include "cpu/vector.h"

// The periodic embedding of one feature: cos(2 pi x w + p) V + b for each row (network/layers.h).
// The loops are over 16 rows at a time; a row that is missing in the last ones has the gradient 0.
namespace trainer::cpu::TRAINER_ISA {

inline constexpr int64_t kPeriodicRows = kPartialSums;
inline constexpr int64_t kMaxPeriodicSize = 64;
inline constexpr float kTwoPi = 6.28318531f;

// A number of each of 16 rows.
struct PeriodicLanes : PartialSums {
  // The first `count` lanes from a column of a matrix; the others are 0.
  void load(const float* from, int64_t stride, int64_t count) {
    for (int64_t l = 0; l < count; ++l) sums[l] = from[l * stride];
    for (int64_t l = count; l < kPeriodicRows; ++l) sums[l] = 0.0f;
  }

  void set(float value) {
    for (float& sum : sums) sum = value;
  }

  void set_angles(const PeriodicLanes& x, float frequency, float phase) {
    for (int64_t l = 0; l < kPeriodicRows; ++l) sums[l] = x.sums[l] * frequency + phase;
  }

  void add(const PeriodicLanes& values, float factor) {
    for (int64_t l = 0; l < kPeriodicRows; ++l) sums[l] += values.sums[l] * factor;
  }

  void add(const PeriodicLanes& a, const PeriodicLanes& b) {
    for (int64_t l = 0; l < kPeriodicRows; ++l) sums[l] += a.sums[l] * b.sums[l];
  }
};

inline PeriodicLanes cosines(const PeriodicLanes& angles) {
  PeriodicLanes result;
  for (int64_t l = 0; l < kPeriodicRows; ++l) result.sums[l] = cos(angles.sums[l]);
  return result;
}

inline PeriodicLanes minus_sines(const PeriodicLanes& angles) {
  PeriodicLanes result;
  for (int64_t l = 0; l < kPeriodicRows; ++l) result.sums[l] = -sin(angles.sums[l]);
  return result;
}

inline void periodic_embedding(int64_t num_rows, const PeriodicOperands& p, float* out) {
  PeriodicLanes x, angles, outs[kMaxPeriodicSize];
  for (int64_t row = 0; row < num_rows; row += kPeriodicRows) {
    const int64_t count = smaller(kPeriodicRows, num_rows - row);
    x.load(p.values + row * p.stride, p.stride, count);
    for (int64_t c = 0; c < p.size; ++c) outs[c].set(p.bias[c]);
    for (int64_t k = 0; k < p.num_frequencies; ++k) {
      angles.set_angles(x, p.frequencies[k] * kTwoPi, p.phases[k]);
      const PeriodicLanes waves = cosines(angles);
      for (int64_t c = 0; c < p.size; ++c) outs[c].add(waves, p.weight[k * p.size + c]);
    }
    for (int64_t i = 0; i < count * p.size; ++i) {
      out[(row + i / p.size) * p.stride + i % p.size] = outs[i % p.size].sums[i / p.size];
    }
  }
}

inline void write_gradient(float* to, float value, Accumulate accumulate) {
  if (to != nullptr) *to = accumulate == Accumulate::kYes ? *to + value : value;
}

inline void periodic_bias_gradient(int64_t num_rows, const PeriodicGradients& g, int64_t c) {
  PeriodicLanes sum, of_rows;
  for (int64_t row = 0; row < num_rows; row += kPeriodicRows) {
    of_rows.load(g.gradient + row * g.stride + c, g.stride, smaller(kPeriodicRows, num_rows - row));
    sum.add(of_rows, 1.0f);
  }
  write_gradient(g.bias + c, sum.total(), g.accumulate);
}

// Of what belongs to frequency k.
inline void periodic_wave_gradient(int64_t num_rows, const PeriodicOperands& p,
                                   const PeriodicGradients& g, int64_t k) {
  PeriodicLanes x, angles, of_rows, frequency, phase, weights[kMaxPeriodicSize];
  for (int64_t row = 0; row < num_rows; row += kPeriodicRows) {
    const int64_t count = smaller(kPeriodicRows, num_rows - row);
    x.load(p.values + row * p.stride, p.stride, count);
    angles.set_angles(x, p.frequencies[k] * kTwoPi, p.phases[k]);
    const PeriodicLanes waves = cosines(angles);
    PeriodicLanes to_wave;
    for (int64_t c = 0; c < p.size; ++c) {
      of_rows.load(g.gradient + row * g.stride + c, g.stride, count);
      weights[c].add(waves, of_rows);
      to_wave.add(of_rows, p.weight[k * p.size + c]);
    }
    PeriodicLanes to_angle;
    to_angle.add(minus_sines(angles), to_wave);
    phase.add(to_angle, 1.0f);
    frequency.add(to_angle, x);
  }
  const auto write = [&](float* to, int64_t i, float value) {
    write_gradient(to == nullptr ? nullptr : to + i, value, g.accumulate);
  };
  write(g.frequencies, k, frequency.total() * kTwoPi);
  write(g.phases, k, phase.total());
  for (int64_t c = 0; c < p.size; ++c) {
    write(g.weight, k * p.size + c, weights[c].total());
  }
}

inline void periodic_embedding_gradient(int64_t num_rows, const PeriodicOperands& p,
                                        const PeriodicGradients& g) {
  if (g.bias != nullptr) {
    for (int64_t c = 0; c < p.size; ++c) periodic_bias_gradient(num_rows, g, c);
  }
  for (int64_t k = 0; k < p.num_frequencies; ++k) periodic_wave_gradient(num_rows, p, g, k);
}

}  // namespace trainer::cpu::TRAINER_ISA
