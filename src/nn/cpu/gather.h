// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

template <class Value>
void gather_rows(const Value* values, const GatherSource& source, const int64_t* rows,
                 const Tile& tile, float* out) {
  constexpr int64_t kCacheLine = 64 / static_cast<int64_t>(sizeof(Value));
  const int64_t n = source.num_features;
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    if (i + 1 < tile.num_rows) {  // shuffled rows are rarely in a cache
      const Value* next = values + rows[i + 1] * n;
      for (int64_t j = 0; j < n; j += kCacheLine) __builtin_prefetch(next + j);
    }
    const Value* from = values + rows[i] * n;
    float* to = out + i * tile.stride;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < n; ++j) {
      to[j] = (static_cast<float>(from[j]) - source.shift[j]) * source.scale[j];
    }
    if (source.inverse_limit == nullptr) continue;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < n; ++j) {
      const float part = to[j] * source.inverse_limit[j];
      to[j] = to[j] / __builtin_sqrtf(1.0f + part * part);
    }
  }
}

inline void gather(const GatherSource& source, const int64_t* rows, const Tile& tile, float* out) {
  if (source.bytes != nullptr) {
    gather_rows(source.bytes, source, rows, tile, out);
  } else {
    gather_rows(source.floats, source, rows, tile, out);
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
