// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/cpu/vector.h"

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

}  // namespace trainer::cpu::TRAINER_ISA
