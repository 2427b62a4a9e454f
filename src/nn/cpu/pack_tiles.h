// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/product.h"

#include "nn/cpu/bf16.h"
#include "nn/cpu/pack.h"
#include "nn/cpu/vector.h"

// Packs the operands of products in bf16 for tiles of AMX: as for AVX512-BF16, but always with the
// depths of a row of A adjacent, and filled up with zeros to whole tiles.
namespace trainer::cpu::TRAINER_ISA {

// Rows of a tile, its columns in C, and its pairs of depths in A and B.
inline constexpr int64_t kTileSide = 16;

/// Packed rows of A, `stride` pairs apart, each with adjacent depths.
template <class Tiles>
struct TiledBlock {
  const Pair* data = nullptr;
  int64_t stride = 0;
};

// Packs rows of A that are adjacent in memory; their depths are `depth_stride` apart.
inline void pack_adjacent_rows(const float* a, int64_t depth_stride, int64_t num_rows,
                               int64_t depth, Pair* packed, int64_t stride) {
  for (int64_t row = 0; row < num_rows; row += kLanes) {
    const auto at = [&](int64_t k) {
      return k < depth ? load_some(a + k * depth_stride + row, num_rows - row) : Vector{};
    };
    for (int64_t k = 0; k < depth; k += 2 * kLanes) {
      Vector pairs[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) {
        pairs[i] = Vector(pairs_of(at(k + 2 * i), at(k + 2 * i + 1)));
      }
      transpose(pairs);
      for (int64_t i = 0; i < kLanes; ++i) {
        store(packed + (row + i) * stride + k / 2, IndexVector(pairs[i]));
      }
    }
  }
}

inline void fill_with_zeros(Pair* begin, const Pair* end) {
  for (; begin < end; begin += kLanes) store(begin, IndexVector{});
}

/// Tells multiply_blocks() how to pack operands for tiles. `Packed` packs them as pairs of depths.
template <class Tiles, class Packed = Bf16Operands>
struct TiledOperands {
  using Element = typename Packed::Element;

  static int64_t num_elements(int64_t depth) {
    return rounded_up(Packed::num_elements(depth), kTileSide);
  }

  static int64_t panel_stride(int64_t /*num_columns*/) { return kPanelColumns; }
  static bool packs(const Product&, int64_t, int64_t) { return true; }

  static Panel<Element> panel(const Product& p, int64_t column, int64_t num_columns, int64_t begin,
                              int64_t depth, Element* packed) {
    const Panel<Element> panel = Packed::panel(p, column, num_columns, begin, depth, packed);
    fill_with_zeros(packed + Packed::num_elements(depth) * kPanelColumns,
                    packed + num_elements(depth) * kPanelColumns);
    return panel;
  }

  static TiledBlock<Tiles> block(const Product& p, int64_t row, int64_t num_rows, int64_t begin,
                                 int64_t depth, Element* packed) {
    const int64_t stride = num_elements(depth);
    if (p.a_depth == 1) {
      Packed::block(p, row, num_rows, begin, depth, packed);  // with the same stride
      fill_with_zeros(packed + num_rows * stride,
                      packed + rounded_up(num_rows, kTileSide) * stride);
    } else {
      pack_adjacent_rows(p.a + row + begin * p.a_depth, p.a_depth, num_rows, depth, packed, stride);
    }
    return {packed, stride};
  }
};

}  // namespace trainer::cpu::TRAINER_ISA
