// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/product.h"

#include "nn/cpu/bf16.h"
#include "nn/cpu/pack.h"
#include "nn/cpu/vector.h"

// Copies blocks of the operands of a product in bf16 to contiguous memory, and rounds them.
namespace trainer::cpu::TRAINER_ISA {

inline int64_t rounded_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

inline int64_t num_bf16_elements(int64_t depth) { return (depth + 1) / 2 * kElementsPerPair; }

// Packs a matrix with a row of `width` adjacent numbers for each depth; the rows are `from_stride`
// apart.
inline void pack_depths(const float* from, int64_t from_stride, int64_t width, int64_t depth,
                        Bf16Element* packed, int64_t stride) {
  for (int64_t k = 0; k < depth; k += 2) {
    const float* even = from + k * from_stride;
    Bf16Element* to = packed + k / 2 * kElementsPerPair * stride;
    for (int64_t j = 0; j < width; j += kLanes) {
      store_depths(to + j, stride, load_some(even + j, width - j),
                   k + 1 < depth ? load_some(even + from_stride + j, width - j) : Vector{});
    }
  }
}

// Packs columns whose depths are adjacent and that are `column_stride` apart, with zeros for
// missing columns.
inline void pack_columns(const float* b, int64_t column_stride, int64_t num_columns, int64_t depth,
                         Bf16Element* packed) {
  const int64_t num_elements = num_bf16_elements(depth);
  for (int64_t column = 0; column < num_columns; column += kLanes) {
    for (int64_t k = 0; k < depth; k += kDepthsPerVector) {
      Vector rows[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) {
        rows[i] = column + i < num_columns
                      ? take_depths(b + (column + i) * column_stride + k, depth - k)
                      : Vector{};
      }
      transpose(rows);
      const int64_t first = k / 2 * kElementsPerPair;
      const int64_t count = smaller(kLanes, num_elements - first);
      for (int64_t i = 0; i < count; ++i) {
        store(packed + (first + i) * kPanelColumns + column, Bf16Vector(rows[i]));
      }
    }
  }
}

/// Tells multiply_blocks() how to read and pack bf16 operands. Without instructions for bf16 an
/// element is a single depth, else a pair of depths.
struct Bf16Operands {
  using Element = Bf16Element;

  static int64_t num_elements(int64_t depth) { return num_bf16_elements(depth); }
  static int64_t panel_stride(int64_t /*num_columns*/) { return kPanelColumns; }
  static bool packs(const Product&, int64_t, int64_t) { return true; }

  static Panel<Element> panel(const Product& p, int64_t column, int64_t num_columns, int64_t begin,
                              int64_t depth, Element* packed) {
    const float* b = p.b + begin * p.b_depth + column * p.b_column;
    if (p.b_column == 1) {
      pack_depths(b, p.b_depth, num_columns, depth, packed, kPanelColumns);
    } else {
      pack_columns(b, p.b_column, num_columns, depth, packed);
    }
    return {packed, kPanelColumns};
  }

  static Block<Element> block(const Product& p, int64_t row, int64_t num_rows, int64_t begin,
                              int64_t depth, Element* packed) {
    const float* a = p.a + row * p.a_row + begin * p.a_depth;
    if (p.a_depth != 1) {
      const int64_t stride = rounded_up(num_rows, kLanes);
      pack_depths(a, p.a_depth, num_rows, depth, packed, stride);
      return {packed, 1, stride, Rows::kAdjacent};
    }
    const int64_t stride = rounded_up(num_bf16_elements(depth), kLanes);
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t k = 0; k < depth; k += kDepthsPerVector) {
        store(packed + i * stride + k / 2 * kElementsPerPair,
              Bf16Vector(take_depths(a + i * p.a_row + k, depth - k)));
      }
    }
    return {packed, stride, stride, Rows::kApart};
  }
};

}  // namespace trainer::cpu::TRAINER_ISA
