// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "trainer/base/parallel/shard_tree.h"
#include "trainer/nn/cpu/numeric_embedding.h"
#include "trainer/nn/cpu/operands.h"
#include "trainer/nn/cpu/product.h"
#include "trainer/nn/cpu/row_sums.h"

// Sums of gradients over the shards of a pass. A sum over several shards is computed in small
// pieces, so that a piece stays in the cache while its tree (base/parallel/shard_tree.h) is summed.

namespace trainer::cpu {

/// The most floats of a piece. The memory for a tree has this many floats for each depth.
inline constexpr int64_t kTreeTileFloats = 1 << 14;

/// Adds `count` floats: to[i] += from[i].
inline void add_floats(const float* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

/// Calls body(tile) for pieces of a region of a matrix with at most kTreeTileFloats elements each.
template <class Body>
void for_each_tree_tile(const Region& region, const Body& body) {
  constexpr int64_t kMaxColumns = 256;
  const int64_t columns = std::min(kMaxColumns, region.tile.num_columns);
  const int64_t rows = kTreeTileFloats / columns;
  for (int64_t row = 0; row < region.tile.num_rows; row += rows) {
    for (int64_t column = 0; column < region.tile.num_columns; column += columns) {
      body(Region{
          .row = region.row + row,
          .column = region.column + column,
          .tile = {std::min(rows, region.tile.num_rows - row),
                   std::min(columns, region.tile.num_columns - column), region.tile.stride}});
    }
  }
}

/// Computes all gradients of `sums`. compute(shard, offset, accumulate) writes the gradients of one
/// shard `offset` floats after each of `outputs`, which have at most kTreeTileFloats floats
/// together. `tree` is scratch memory with kTreeTileFloats floats for each depth.
template <class Compute>
void sum_gradients(const RowSums& sums, std::span<const FloatRange> outputs, float* tree,
                   const Compute& compute) {
  for (const GradientSum& sum : sums.gradients) {
    if (is_single_shard(sum.shards)) {
      compute(sum.shards.begin, sum.offset, sum.accumulate);
      continue;
    }
    // The outputs are overwritten for each shard, so the sum at each depth is saved in its own
    // memory.
    const auto for_each_output = [&](int64_t depth, const auto& body) {
      float* saved = tree + depth * kTreeTileFloats;
      for (const FloatRange& output : outputs) {
        if (output.values == nullptr) continue;
        body(output.values + sum.offset, output.count, saved);
        saved += output.count;
      }
    };
    sum_tree(
        sum.shards, 0, is_single_shard,
        [&](const ShardRange& shard, int64_t depth) {
          if (depth > 0) {
            for_each_output(depth - 1, [](const float* values, int64_t count, float* saved) {
              std::copy_n(values, count, saved);
            });
          }
          compute(shard.begin, sum.offset, Accumulate::kNo);
        },
        [&](int64_t depth) {
          for_each_output(depth, [](float* values, int64_t count, const float* saved) {
            add_floats(saved, count, values);
          });
        });
  }
}

}  // namespace trainer::cpu

namespace trainer::cpu::TRAINER_ISA {

inline void write_sum(float* to, float value, Accumulate accumulate) {
  *to = accumulate == Accumulate::kYes ? *to + value : value;
}

}  // namespace trainer::cpu::TRAINER_ISA
