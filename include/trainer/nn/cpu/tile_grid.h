// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainer/nn/cpu/operands.h"

namespace trainer::cpu {

/// The division of a matrix into tiles, which are distributed among the threads.
struct TileGrid {
  int64_t num_rows = 0;
  int64_t num_columns = 0;
  int64_t tile_rows = 1;  // height of a tile; the last row of tiles may be lower
  int64_t tile_columns = 1;
  int64_t grid_rows = 0;  // tiles from top to bottom
  int64_t grid_columns = 0;

  int64_t num_tiles() const { return grid_rows * grid_columns; }
};

/// One tile of a matrix, with its first row and column.
struct Region {
  int64_t row = 0;
  int64_t column = 0;
  Tile tile;
};

/// Returns the tile with this index, counted row by row, for a matrix whose rows are `stride`
/// elements apart.
inline Region tile_region(const TileGrid& grid, int64_t index, int64_t stride) {
  Region region;
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a grid without columns has no tile
  region.row = index / grid.grid_columns * grid.tile_rows;
  region.column = index % grid.grid_columns * grid.tile_columns;
  region.tile = {std::min(grid.tile_rows, grid.num_rows - region.row),
                 std::min(grid.tile_columns, grid.num_columns - region.column), stride};
  return region;
}

}  // namespace trainer::cpu
