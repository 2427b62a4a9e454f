// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "trainer/base/philox.h"

namespace trainer::test {

/// Numbers in [-1, 1), always the same ones for a seed.
inline std::vector<float> some_numbers(int64_t size, uint64_t seed) {
  PhiloxStream stream(seed, StreamId::kSynthetic);
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    numbers.push_back(static_cast<float>(2 * stream.uniform() - 1));
  }
  return numbers;
}

/// Numbers from 0 to 1 in no order, each i's always the same.
inline double mixed(int i) { return std::fmod(i * 0.6180339887498949, 1.0); }

}  // namespace trainer::test
