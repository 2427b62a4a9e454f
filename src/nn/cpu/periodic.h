// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/math.h"
#include "nn/cpu/shard_sums.h"
#include "nn/cpu/vector.h"

// The periodic embedding of one feature: cos(2 pi x w + p) V + b for each row (nn/spec/layers.h).
// The loops are over 16 rows at a time; rows that are missing in the last 16 have the gradient 0.

namespace trainer::cpu::TRAINER_ISA {

inline constexpr int64_t kPeriodicRows = kPartialSums;

// One number for each of 16 rows.
struct PeriodicLanes : PartialSums {
  // Loads the first `count` lanes from a column of a matrix and sets the others to 0.
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
};

// The functions below take arrays of groups of 16 lanes.

inline void clear_lanes(float* lanes, int64_t count) {
  for (int64_t i = 0; i < count * kPeriodicRows; ++i) lanes[i] = 0.0f;
}

// Uses explicit vectors, because compilers unroll loops of 16 iterations instead of vectorizing
// them.
inline void add_products(float* to, const float* a, const float* b) {
  for (int64_t l = 0; l < kPeriodicRows; l += kLanes) {
    store(to + l, load(to + l) + load(a + l) * load(b + l));
  }
}

inline void add_products(float* to, const float* a, float factor) {
  for (int64_t l = 0; l < kPeriodicRows; l += kLanes) {
    store(to + l, load(to + l) + load(a + l) * factor);
  }
}

inline float total_of_lanes(const float* lanes) {
  PartialSums all;
  for (int64_t l = 0; l < kPeriodicRows; ++l) all.sums[l] = lanes[l];
  return all.total();
}

inline constexpr float kTwoPi = 6.28318531f;

inline PeriodicLanes cosines(const PeriodicLanes& angles) {
  PeriodicLanes result;
  for (int64_t l = 0; l < kPeriodicRows; ++l) result.sums[l] = cos(angles.sums[l]);
  return result;
}

inline void periodic_embedding(int64_t num_rows, const PeriodicOperands& p, float* out) {
  PeriodicLanes x, angles, outs[kMaxNumericSize];
  for (int64_t row = 0; row < num_rows; row += kPeriodicRows) {
    const int64_t count = smaller(kPeriodicRows, num_rows - row);
    x.load(p.values + row * p.stride, p.stride, count);
    for (int64_t c = 0; c < p.size; ++c) outs[c].set(p.bias[c]);
    for (int64_t k = 0; k < p.num_frequencies; ++k) {
      angles.set_angles(x, p.frequencies[k] * kTwoPi, p.phases[k]);
      const PeriodicLanes waves = cosines(angles);
      for (int64_t c = 0; c < p.size; ++c) {
        add_products(outs[c].sums, waves.sums, p.weight[k * p.size + c]);
      }
    }
    for (int64_t i = 0; i < count * p.size; ++i) {
      out[(row + i / p.size) * p.stride + i % p.size] = outs[i % p.size].sums[i / p.size];
    }
  }
}

/// Gradients as 16 partial sums over the rows: `[frequencies, 16]` for frequencies and phases,
/// `[frequencies, size, 16]` for weights, `[size, 16]` for the bias.
struct PeriodicSums {
  float* frequencies;
  float* phases;
  float* weights;
  float* bias;
};

// Adds the gradients of 16 rows to the sums; `of_rows` `[size]` is the gradient with respect to
// their embeddings.
inline void add_periodic_rows(const PeriodicOperands& p, const PeriodicLanes& x,
                              const PeriodicLanes* of_rows, const PeriodicSums& sums) {
  for (int64_t c = 0; c < p.size; ++c)
    add_products(sums.bias + c * kPeriodicRows, of_rows[c].sums, 1.0f);
  for (int64_t k = 0; k < p.num_frequencies; ++k) {
    const float frequency = p.frequencies[k] * kTwoPi;
    const float phase = p.phases[k];
    float waves[kPeriodicRows], slopes[kPeriodicRows], to_angle[kPeriodicRows];
    for (int64_t l = 0; l < kPeriodicRows; ++l) {
      waves[l] = cos(x.sums[l] * frequency + phase);
      slopes[l] = -sin(x.sums[l] * frequency + phase);
      to_angle[l] = 0.0f;
    }
    for (int64_t c = 0; c < p.size; ++c) {
      const float* gradients = of_rows[c].sums;
      add_products(sums.weights + (k * p.size + c) * kPeriodicRows, waves, gradients);
      add_products(to_angle, gradients, p.weight[k * p.size + c]);
    }
    for (int64_t l = 0; l < kPeriodicRows; ++l) to_angle[l] *= slopes[l];
    add_products(sums.phases + k * kPeriodicRows, to_angle, 1.0f);
    add_products(sums.frequencies + k * kPeriodicRows, to_angle, x.sums);
  }
}

inline void periodic_embedding_gradient(int64_t num_rows, const PeriodicOperands& p,
                                        const PeriodicGradients& g) {
  float frequencies[kMaxFrequencies * kPeriodicRows];
  float phases[kMaxFrequencies * kPeriodicRows];
  float weights[kMaxFrequencies * kMaxNumericSize * kPeriodicRows];
  float bias[kMaxNumericSize * kPeriodicRows];
  clear_lanes(frequencies, p.num_frequencies);  // clears only the used part of these large arrays
  clear_lanes(phases, p.num_frequencies);
  clear_lanes(weights, p.num_frequencies * p.size);
  clear_lanes(bias, p.size);
  PeriodicLanes x, of_rows[kMaxNumericSize];
  for (int64_t row = 0; row < num_rows; row += kPeriodicRows) {
    const int64_t count = smaller(kPeriodicRows, num_rows - row);
    x.load(p.values + row * p.stride, p.stride, count);
    for (int64_t c = 0; c < p.size; ++c) {
      of_rows[c].load(g.gradient + row * g.stride + c, g.stride, count);
    }
    add_periodic_rows(p, x, of_rows, {frequencies, phases, weights, bias});
  }
  const auto write = [&](float* to, const float* sums, int64_t i, float factor) {
    if (to != nullptr)
      write_sum(to + i, total_of_lanes(sums + i * kPeriodicRows) * factor, g.accumulate);
  };
  for (int64_t c = 0; c < p.size; ++c) write(g.bias, bias, c, 1.0f);
  for (int64_t k = 0; k < p.num_frequencies; ++k) write(g.frequencies, frequencies, k, kTwoPi);
  for (int64_t k = 0; k < p.num_frequencies; ++k) write(g.phases, phases, k, 1.0f);
  for (int64_t i = 0; i < p.num_frequencies * p.size; ++i) write(g.weight, weights, i, 1.0f);
}

}  // namespace trainer::cpu::TRAINER_ISA
