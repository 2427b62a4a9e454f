// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/product.h"

#include "nn/cpu/multiply_blocks.h"
#include "nn/cpu/pack.h"
#include "nn/cpu/pack_tiles.h"
#include "nn/cpu/vector.h"

// Products in bf16 with the tiles of AMX: 2 x 2 tiles of C stay in tile registers while tiles of A
// and B are multiplied. `Tiles` executes the instructions (kernels_amx.cpp) or emulates them
// (nn/cpu/emulated_amx.cpp in the tests).
namespace trainer::cpu::TRAINER_ISA {

inline constexpr int64_t kTiledRowBlock = 512;

// Calls work<row, column>() for each of 1 or 2 rows and 1 or 2 columns of tiles.
template <int NumRows, int NumColumns, class Work>
void for_each_tile(const Work& work) {
  work.template operator()<0, 0>();
  if constexpr (NumColumns == 2) work.template operator()<0, 1>();
  if constexpr (NumRows == 2) work.template operator()<1, 0>();
  if constexpr (NumRows == 2 && NumColumns == 2) work.template operator()<1, 1>();
}

// The tile registers 0 to 3 hold the sums, 4 and 5 tiles of A, 6 and 7 tiles of B.
template <class Tiles, int NumRows, int NumColumns>
void multiply_tiles(const Pair* a, int64_t a_stride, const Panel<Pair>& b, int64_t num_pairs,
                    float* c, int64_t c_row, bool accumulate) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Pair));
  for_each_tile<NumRows, NumColumns>([&]<int Row, int Column>() {
    if (accumulate) {
      Tiles::template load<2 * Row + Column>(c + kTileSide * (Row * c_row + Column),
                                             c_row * kBytes);
    } else {
      Tiles::template zero<2 * Row + Column>();
    }
  });
  for (int64_t k = 0; k < num_pairs; k += kTileSide) {
    const Pair* b_rows = b.data + k * b.stride;
    Tiles::template load<4>(a + k, a_stride * kBytes);
    if constexpr (NumRows == 2) {
      Tiles::template load<5>(a + kTileSide * a_stride + k, a_stride * kBytes);
    }
    Tiles::template load<6>(b_rows, b.stride * kBytes);
    if constexpr (NumColumns == 2) {
      Tiles::template load<7>(b_rows + kTileSide, b.stride * kBytes);
    }
    for_each_tile<NumRows, NumColumns>([]<int Row, int Column>() {
      Tiles::template multiply<2 * Row + Column, 4 + Row, 6 + Column>();
    });
  }
  for_each_tile<NumRows, NumColumns>([&]<int Row, int Column>() {
    Tiles::template store<2 * Row + Column>(c + kTileSide * (Row * c_row + Column), c_row * kBytes);
  });
}

using TilesFunction = void (*)(const Pair* a, int64_t a_stride, const Panel<Pair>& b,
                               int64_t num_pairs, float* c, int64_t c_row, bool accumulate);

template <class Tiles>
TilesFunction tiles_function(int64_t num_rows, int64_t num_columns) {
  if (num_rows > kTileSide) {
    return num_columns > kTileSide ? multiply_tiles<Tiles, 2, 2> : multiply_tiles<Tiles, 2, 1>;
  }
  return num_columns > kTileSide ? multiply_tiles<Tiles, 1, 2> : multiply_tiles<Tiles, 1, 1>;
}

// Incomplete tiles at the edges of C are computed in a buffer.
template <class Tiles>
void multiply_panel(const TiledBlock<Tiles>& block, int64_t num_rows, const Panel<Pair>& panel,
                    int64_t num_columns, int64_t num_pairs, float* c, int64_t c_row,
                    bool accumulate, NextPanel next) {
  constexpr int64_t kRows = 2 * kTileSide;
  for (int64_t i = 0; i < num_rows; i += kRows) {
    const int64_t rows = smaller(kRows, num_rows - i);
    next.fetch(rows, num_rows - i);
    const auto multiply_to = [&](float* to, int64_t to_row) {
      tiles_function<Tiles>(rows, num_columns)(block.data + i * block.stride, block.stride, panel,
                                               num_pairs, to, to_row, accumulate);
    };
    float* to = c + i * c_row;
    if (rows % kTileSide == 0 && num_columns % kTileSide == 0) {
      multiply_to(to, c_row);
    } else {
      multiply_in_buffer<kRows, kPanelColumns>(rows, num_columns, to, c_row, accumulate,
                                               multiply_to);
    }
  }
}

template <class Tiles>
void multiply_with_tiles(const Product& p, float* scratch) {
  const Tiles configured;
  multiply_blocks<TiledOperands<Tiles>, kTiledRowBlock>(p, scratch);
}

}  // namespace trainer::cpu::TRAINER_ISA
