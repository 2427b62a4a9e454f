// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::cpu {

/// How many parts of `step` elements `size` elements make, the last one perhaps smaller.
constexpr int64_t num_parts(int64_t size, int64_t step) { return (size + step - 1) / step; }

/// The distance, in floats, between rows of `num_columns` that begin at cache lines, and not all at
/// the same place of a cache's sets.
constexpr int64_t padded_stride(int64_t num_columns) {
  constexpr int64_t kLine = 16;
  constexpr int64_t kBadMultiple = 256;  // 1 KiB
  const int64_t stride = num_parts(num_columns, kLine) * kLine;
  return stride % kBadMultiple == 0 ? stride + kLine : stride;
}

}  // namespace trainer::cpu
