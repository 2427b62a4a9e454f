// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/numeric_operands.h"

#include "cpu/math.h"
#include "cpu/periodic_lanes.h"
#include "cpu/vector.h"
#include "cpu/write_sum.h"

// The periodic embedding of one feature: cos(2 pi x w + p) V + b for each row (network/layers.h).
// The loops are over 16 rows at a time; a row that is missing in the last ones has the gradient 0.
namespace trainer::cpu::TRAINER_ISA {

inline constexpr int64_t kMaxPeriodicSize = 64;
inline constexpr int64_t kMaxFrequencies = 64;
inline constexpr float kTwoPi = 6.28318531f;

inline PeriodicLanes cosines(const PeriodicLanes& angles) {
  PeriodicLanes result;
  for (int64_t l = 0; l < kPeriodicRows; ++l) result.sums[l] = cos(angles.sums[l]);
  return result;
}

struct Waves {
  PeriodicLanes waves;   // cosines
  PeriodicLanes slopes;  // minus the sines
};

inline Waves waves_and_slopes(const PeriodicLanes& angles) {
  Waves result;
  for (int64_t l = 0; l < kPeriodicRows; ++l) {
    result.waves.sums[l] = cos(angles.sums[l]);
    result.slopes.sums[l] = -sin(angles.sums[l]);
  }
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

/// Sums over the rows, in 16 parts each.
struct PeriodicSums {
  PeriodicLanes frequencies[kMaxFrequencies];
  PeriodicLanes phases[kMaxFrequencies];
  PeriodicLanes weights[kMaxFrequencies * kMaxPeriodicSize];
  PeriodicLanes bias[kMaxPeriodicSize];

  PeriodicSums(int64_t num_frequencies, int64_t size) {
    for (int64_t k = 0; k < num_frequencies; ++k) {
      frequencies[k].set(0.0f);
      phases[k].set(0.0f);
    }
    for (int64_t i = 0; i < num_frequencies * size; ++i) weights[i].set(0.0f);
    for (int64_t c = 0; c < size; ++c) bias[c].set(0.0f);
  }
};

// Adds 16 rows; `of_rows` are their gradients, `[size]`.
inline void add_periodic_rows(const PeriodicOperands& p, const PeriodicLanes& x,
                              const PeriodicLanes* of_rows, PeriodicSums& sums) {
  for (int64_t c = 0; c < p.size; ++c) sums.bias[c].add(of_rows[c], 1.0f);
  PeriodicLanes angles;
  for (int64_t k = 0; k < p.num_frequencies; ++k) {
    angles.set_angles(x, p.frequencies[k] * kTwoPi, p.phases[k]);
    const Waves w = waves_and_slopes(angles);
    PeriodicLanes to_wave;
    to_wave.set(0.0f);
    for (int64_t c = 0; c < p.size; ++c) {
      sums.weights[k * p.size + c].add(w.waves, of_rows[c]);
      to_wave.add(of_rows[c], p.weight[k * p.size + c]);
    }
    PeriodicLanes to_angle;
    to_angle.set(0.0f);
    to_angle.add(w.slopes, to_wave);
    sums.phases[k].add(to_angle, 1.0f);
    sums.frequencies[k].add(to_angle, x);
  }
}

inline void periodic_embedding_gradient(int64_t num_rows, const PeriodicOperands& p,
                                        const PeriodicGradients& g) {
  PeriodicSums sums(p.num_frequencies, p.size);
  PeriodicLanes x, of_rows[kMaxPeriodicSize];
  for (int64_t row = 0; row < num_rows; row += kPeriodicRows) {
    const int64_t count = smaller(kPeriodicRows, num_rows - row);
    x.load(p.values + row * p.stride, p.stride, count);
    for (int64_t c = 0; c < p.size; ++c) {
      of_rows[c].load(g.gradient + row * g.stride + c, g.stride, count);
    }
    add_periodic_rows(p, x, of_rows, sums);
  }
  const auto write = [&](float* to, int64_t i, float value) {
    if (to != nullptr) write_sum(to + i, value, g.accumulate);
  };
  for (int64_t c = 0; c < p.size; ++c) write(g.bias, c, sums.bias[c].total());
  for (int64_t k = 0; k < p.num_frequencies; ++k) {
    write(g.frequencies, k, sums.frequencies[k].total() * kTwoPi);
    write(g.phases, k, sums.phases[k].total());
  }
  for (int64_t i = 0; i < p.num_frequencies * p.size; ++i) {
    write(g.weight, i, sums.weights[i].total());
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
