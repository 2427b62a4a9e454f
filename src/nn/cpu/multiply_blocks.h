// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/product.h"

#include "nn/cpu/next_panel.h"
#include "nn/cpu/pack.h"
#include "nn/cpu/product_tile.h"
#include "nn/cpu/vector.h"

// The matrix product after Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008.
namespace trainer::cpu::TRAINER_ISA {

// These sizes let a panel of B fit into the first level cache, and a packed block of A into the
// second.
inline constexpr int64_t kDepthBlock = 256;
inline constexpr int64_t kRowBlock = 37 * kTileRows;

// Tile functions store whole vectors, so a tile at the edge of C is computed in a buffer and copied
// from there.
template <class Element>
void multiply_edge(TileFunction<Element> multiply_rows, int64_t rows, int64_t width,
                   const Block<Element>& block, const Element* a, const Panel<Element>& panel,
                   int64_t num_columns, int64_t depth, float* c, int64_t c_row, bool accumulate) {
  float edge[kTileRows * kPanelColumns];
  if (accumulate) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < width; ++j) {
        edge[r * width + j] = j < num_columns ? c[r * c_row + j] : 0.0f;
      }
    }
  }
  multiply_rows(depth, a, block.inner_stride, panel.data, panel.stride, edge, width, accumulate);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < num_columns; ++j) c[r * c_row + j] = edge[r * width + j];
  }
}

// Does the same for a function multiply(c, c_row) that always computes Rows x Columns elements.
template <int64_t Rows, int64_t Columns, class Multiply>
void multiply_in_buffer(int64_t num_rows, int64_t num_columns, float* c, int64_t c_row,
                        bool accumulate, const Multiply& multiply) {
  float edge[Rows * Columns] = {};
  for (int64_t r = 0; accumulate && r < num_rows; ++r) {
    for (int64_t j = 0; j < num_columns; ++j) edge[r * Columns + j] = c[r * c_row + j];
  }
  multiply(edge, Columns);
  for (int64_t r = 0; r < num_rows; ++r) {
    for (int64_t j = 0; j < num_columns; ++j) c[r * c_row + j] = edge[r * Columns + j];
  }
}

template <class Element>
void multiply_panel(const Block<Element>& block, int64_t num_rows, const Panel<Element>& panel,
                    int64_t num_columns, int64_t depth, float* c, int64_t c_row, bool accumulate,
                    NextPanel next) {
  const bool is_wide = num_columns > kLanes;
  const int64_t width = is_wide ? kPanelColumns : kLanes;
  const int64_t tile_rows = tile_rows_for(num_rows);
  for (int64_t i = 0; i < num_rows; i += tile_rows) {
    const int64_t rows = smaller(tile_rows, num_rows - i);
    next.fetch(rows, num_rows - i);
    const auto multiply_rows = tile_function<Element>(rows, is_wide, block.layout);
    const Element* a = block.data + i * block.row_stride;
    float* to = c + i * c_row;
    if (num_columns == width) {
      multiply_rows(depth, a, block.inner_stride, panel.data, panel.stride, to, c_row, accumulate);
    } else {
      multiply_edge(multiply_rows, rows, width, block, a, panel, num_columns, depth, to, c_row,
                    accumulate);
    }
  }
}

// Returns columns [column, column + num_columns) of B at depths [begin, begin + depth), packed in
// `own`, or in memory that several products share, if packing is needed.
template <class Operands, class Element = typename Operands::Element>
Panel<Element> take_panel(const Product& p, int64_t column, int64_t num_columns, int64_t begin,
                          int64_t depth, Element* own) {
  const SharedPanels& shared = p.shared;
  if (shared.memory == nullptr || !Operands::packs(p, num_columns, depth)) {
    return Operands::panel(p, column, num_columns, begin, depth, own);
  }
  const int64_t index =
      begin / kDepthBlock * shared.num_panels + shared.first_panel + column / kPanelColumns;
  auto* packed = reinterpret_cast<Element*>(shared.memory + index * kDepthBlock * kPanelColumns);
  uint32_t* state = shared.states + index;
  uint32_t seen = __atomic_load_n(state, __ATOMIC_ACQUIRE);
  if (seen == shared.pass) return {packed, Operands::panel_stride(num_columns)};
  const uint32_t being_packed = shared.pass - 1;
  if (seen == being_packed ||
      !__atomic_compare_exchange_n(state, &seen, being_packed, /*weak=*/false, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED)) {
    return Operands::panel(p, column, num_columns, begin, depth, own);
  }
  const Panel<Element> panel = Operands::panel(p, column, num_columns, begin, depth, packed);
  __atomic_store_n(state, shared.pass, __ATOMIC_RELEASE);
  return panel;
}

/// Computes a product. `Operands` says how its operands are read and packed; a multiply_panel() for
/// the type of its blocks must exist.
template <class Operands, int64_t RowBlock = kRowBlock>
void multiply_blocks(const Product& p, float* scratch) {
  using Element = typename Operands::Element;
  auto* packed_panel = reinterpret_cast<Element*>(scratch);
  auto* packed_block = reinterpret_cast<Element*>(scratch + kDepthBlock * kPanelColumns);
  const int64_t num_panels = (p.num_columns + kPanelColumns - 1) / kPanelColumns;
  for (int64_t row = 0; row < p.num_rows; row += RowBlock) {
    const int64_t num_rows = smaller(RowBlock, p.num_rows - row);
    for (int64_t begin = 0; begin < p.depth; begin += kDepthBlock) {
      const int64_t depth = smaller(kDepthBlock, p.depth - begin);
      const auto block = Operands::block(p, row, num_rows, begin, depth, packed_block);
      for (int64_t i = 0; i < num_panels; ++i) {
        const int64_t column = (p.shared.start + i) % num_panels * kPanelColumns;
        const int64_t num_columns = smaller(kPanelColumns, p.num_columns - column);
        const Panel<Element> panel =
            take_panel<Operands>(p, column, num_columns, begin, depth, packed_panel);
        multiply_panel(block, num_rows, panel, num_columns, Operands::num_elements(depth),
                       p.c + row * p.c_row + column, p.c_row,
                       p.accumulate == Accumulate::kYes || begin > 0,
                       next_panel<Operands>(p, num_rows, column + kPanelColumns, begin, depth));
      }
    }
  }
}

inline constexpr int64_t kPaddedRowBlock = (kRowBlock + kLanes - 1) / kLanes * kLanes;
inline constexpr int64_t kScratchFloats = kDepthBlock * (kPanelColumns + kPaddedRowBlock);

}  // namespace trainer::cpu::TRAINER_ISA
