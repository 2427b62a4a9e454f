// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/vector.h"

// The inner part of a product: a tile of C stays in registers while a column of A meets a row of B.
// Each element of C is one chain of multiply-adds in the order of the depth, whoever computes it.
namespace trainer::cpu::TRAINER_ISA {

/// Where the elements of A lie that meet in one step of the depth.
enum class Rows { kAdjacent, kApart };

template <int kRows, int kVectors, Rows kLayout>
void multiply_tile(int64_t depth, const float* a, int64_t a_stride, const float* b,
                   int64_t b_stride, float* c, int64_t c_stride, bool adds) {
  Vector sums[kRows][kVectors];
  // Unrolled, so that all sums stay in registers.
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = adds ? load(c + i * c_stride + v * kLanes) : Vector{};
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vector b_row[kVectors];
    for (int v = 0; v < kVectors; ++v) b_row[v] = load(b + v * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const float a_value = kLayout == Rows::kAdjacent ? a[i] : a[i * a_stride];
      for (int v = 0; v < kVectors; ++v) sums[i][v] += a_value * b_row[v];
    }
    a += kLayout == Rows::kAdjacent ? a_stride : 1;
    b += b_stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) store(c + i * c_stride + v * kLanes, sums[i][v]);
  }
}

using TileFunction = void (*)(int64_t depth, const float* a, int64_t a_stride, const float* b,
                              int64_t b_stride, float* c, int64_t c_stride, bool adds);

// The functions for 1 to kTileRows rows.
template <int kVectors, Rows kLayout>
struct TileFunctions {
  TileFunction of_rows[kTileRows + 1] = {};

  constexpr TileFunctions() { fill<kTileRows>(); }

  template <int kRows>
  constexpr void fill() {
    of_rows[kRows] = multiply_tile<kRows, kVectors, kLayout>;
    if constexpr (kRows > 1) fill<kRows - 1>();
  }
};

template <int kVectors, Rows kLayout>
inline constexpr TileFunctions<kVectors, kLayout> kTileFunctions;

inline TileFunction tile_function(int64_t rows, bool is_wide, Rows layout) {
  if (layout == Rows::kAdjacent) {
    return is_wide ? kTileFunctions<kPanelVectors, Rows::kAdjacent>.of_rows[rows]
                   : kTileFunctions<1, Rows::kAdjacent>.of_rows[rows];
  }
  return is_wide ? kTileFunctions<kPanelVectors, Rows::kApart>.of_rows[rows]
                 : kTileFunctions<1, Rows::kApart>.of_rows[rows];
}

}  // namespace trainer::cpu::TRAINER_ISA
