// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/product.h"

#include "nn/cpu/bf16.h"
#include "nn/cpu/product_tile.h"
#include "nn/cpu/vector.h"

// Copies blocks of the operands of a product to contiguous memory: fp32 if that is cheaper than
// strided access, bf16 always, as they are rounded too.

namespace trainer::cpu::TRAINER_ISA {

// Transposes lanes x lanes elements in log2(lanes) stages of shuffles.
inline void transpose(Vector (&rows)[kLanes]) {
  for (int64_t stage = 1; stage < kLanes; stage *= 2) {
    Vector shuffled[kLanes];
    for (int64_t i = 0; i < kLanes / 2; ++i) {
      shuffled[2 * i] = zip_low(rows[i], rows[i + kLanes / 2]);
      shuffled[2 * i + 1] = zip_high(rows[i], rows[i + kLanes / 2]);
    }
    for (int64_t i = 0; i < kLanes; ++i) rows[i] = shuffled[i];
  }
}

// Transposes lanes x lanes elements of `from`, whose rows are `stride` apart, into a panel.
inline void transpose(const float* from, int64_t stride, float* panel) {
  Vector rows[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) rows[i] = load(from + i * stride);
  transpose(rows);
  for (int64_t i = 0; i < kLanes; ++i) store(panel + i * kPanelColumns, rows[i]);
}

/// Consecutive columns of B in the layout that the tile functions read: a row for each depth.
template <class Element>
struct Panel {
  const Element* data = nullptr;
  int64_t stride = 0;
};

// Packs columns that lie `column_stride` apart as [depth, kPanelColumns], with zeros for missing
// columns.
inline void pack_transposed(const float* b, int64_t column_stride, int64_t num_columns,
                            int64_t depth, float* packed) {
  int64_t k = 0;
  if (num_columns == kPanelColumns) {
    for (; k + kLanes <= depth; k += kLanes) {
      for (int64_t v = 0; v < kPanelVectors; ++v) {
        transpose(b + v * kLanes * column_stride + k, column_stride,
                  packed + k * kPanelColumns + v * kLanes);
      }
    }
  } else {
    for (int64_t i = 0; i < depth * kPanelColumns; i += kLanes) store(packed + i, Vector{});
  }
  for (int64_t j = 0; j < num_columns; ++j) {
    for (int64_t i = k; i < depth; ++i) packed[i * kPanelColumns + j] = b[j * column_stride + i];
  }
}

inline void pack_straight(const float* b, int64_t depth_stride, int64_t num_columns, int64_t depth,
                          float* packed) {
  for (int64_t k = 0; k < depth; ++k) {
    const float* from = b + k * depth_stride;
    float* row = packed + k * kPanelColumns;
    for (int64_t j = 0; j < num_columns; ++j) row[j] = from[j];
    for (int64_t j = num_columns; j < kPanelColumns; ++j) row[j] = 0.0f;
  }
}

// Whether `count` rows that are `stride` apart stay in the first level cache without packing.
inline bool is_close(int64_t count, int64_t stride) {
  constexpr int64_t kHalfCache = 8192;
  return count * stride <= kHalfCache;
}

// Whether columns of B are packed. With few rows of A, packing would cost more than strided access.
inline bool packs_panel(const Product& p, int64_t num_columns, int64_t depth) {
  constexpr int64_t kFewRows = 4 * kTileRows;
  return p.b_column != 1 || num_columns < kPanelColumns ||
         (p.num_rows > kFewRows && !is_close(depth, p.b_depth));
}

// Returns columns [column, column + num_columns) of B at depths [begin, begin + depth), in `packed`
// if they have to be packed.
inline Panel<float> make_panel(const Product& p, int64_t column, int64_t num_columns, int64_t begin,
                               int64_t depth, float* packed) {
  const float* b = p.b + begin * p.b_depth + column * p.b_column;
  if (!packs_panel(p, num_columns, depth)) return {b, p.b_depth};
  if (p.b_column != 1) {
    pack_transposed(b, p.b_column, num_columns, depth, packed);
  } else {
    pack_straight(b, p.b_depth, num_columns, depth, packed);
  }
  return {packed, kPanelColumns};
}

/// Rows of A in the layout that the tile functions read.
template <class Element>
struct Block {
  const Element* data = nullptr;
  int64_t row_stride = 0;    // from a row to the next
  int64_t inner_stride = 0;  // the stride that a tile function takes
  Rows layout = Rows::kApart;
};

// Returns the height of tiles that divides the rows nearly equally: a tile of very few rows is
// bound by the latency of its sums.
inline int64_t tile_rows_for(int64_t num_rows) {
  const int64_t num_tiles = (num_rows + kTileRows - 1) / kTileRows;
  return (num_rows + num_tiles - 1) / num_tiles;
}

// Returns rows [row, row + num_rows) of A at depths [begin, begin + depth). If the rows are
// adjacent in memory, the depths are strided, and A is packed if several panels of B gain from it.
inline Block<float> make_block(const Product& p, int64_t row, int64_t num_rows, int64_t begin,
                               int64_t depth, float* packed) {
  const float* a = p.a + row * p.a_row + begin * p.a_depth;
  if (p.a_depth == 1) return {a, p.a_row, p.a_row, Rows::kApart};
  constexpr int64_t kBadMultiple = 256;  // such rows fall into the same cache set
  if (p.num_columns <= 2 * kPanelColumns || is_close(depth, p.a_depth) ||
      p.a_depth % kBadMultiple != 0) {
    return {a, 1, p.a_depth, Rows::kAdjacent};
  }
  const int64_t tile_rows = tile_rows_for(num_rows);
  for (int64_t i = 0; i < num_rows; i += tile_rows) {
    const int64_t rows = smaller(tile_rows, num_rows - i);
    float* tile = packed + i * depth;
    for (int64_t k = 0; k < depth; ++k) {
      const float* from = a + k * p.a_depth + i;
      for (int64_t r = 0; r < rows; ++r) tile[k * tile_rows + r] = from[r];
    }
  }
  return {packed, depth, tile_rows, Rows::kAdjacent};
}

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
