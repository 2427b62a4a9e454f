// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

inline constexpr int64_t kPeriodicRows = kPartialSums;

// A number of each of 16 rows.
struct PeriodicLanes {
  float sums[kPeriodicRows];  // not set: most of the largest arrays of these are never used

  // The first `count` lanes from a column of a matrix; the others are 0.
  void load(const float* from, int64_t stride, int64_t count) {
    for (int64_t l = 0; l < count; ++l) sums[l] = from[l * stride];
    for (int64_t l = count; l < kPeriodicRows; ++l) sums[l] = 0.0f;
  }

  void set(float value) {
    for (float& sum : sums) sum = value;
  }

  float total() const {
    PartialSums all;
    for (int64_t l = 0; l < kPeriodicRows; ++l) all.sums[l] = sums[l];
    return all.total();
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

}  // namespace trainer::cpu::TRAINER_ISA
