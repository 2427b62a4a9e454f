// SPDX-License-Identifier: Apache-2.0
// Batch norm of a batch whose rows are in several shards. The means and squared distances of the
// shards are merged in the tree of base/parallel/shard_tree.h (Chan, Golub and LeVeque, "Updating
// formulae and a pairwise algorithm for computing sample variances", 1979): first those of the
// subtrees that this process has, then, after an exchange, those of all processes. The sums for the
// gradient are added in the same way.
#include <algorithm>
#include <array>
#include <cstddef>

#include "trainer/base/time/time_scopes.h"
#include "trainer/base/time/timeline.h"
#include "trainer/nn/cpu/network.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kColumns = 64;  // columns that are merged together

/// Two numbers for each column, over `num_rows` rows: mean and sum of squared distances, or the two
/// sums for the gradient.
struct ColumnSums {
  std::array<double, kColumns> first{};
  std::array<double, kColumns> second{};
  int64_t num_rows = 0;
};

// Merges the means and squared distances of `b` into those of `a`.
void merge(ColumnSums& a, const ColumnSums& b, int64_t num_columns) {
  const int64_t num_rows = a.num_rows + b.num_rows;
  if (num_rows == 0) return;
  const double share = static_cast<double>(b.num_rows) / static_cast<double>(num_rows);
  for (std::size_t j = 0; j < static_cast<std::size_t>(num_columns); ++j) {
    const double distance = b.first[j] - a.first[j];
    a.first[j] += distance * share;
    a.second[j] += b.second[j] + distance * distance * share * static_cast<double>(a.num_rows);
  }
  a.num_rows = num_rows;
}

void add(ColumnSums& a, const ColumnSums& b, int64_t num_columns) {
  for (std::size_t j = 0; j < static_cast<std::size_t>(num_columns); ++j) {
    a.first[j] += b.first[j];
    a.second[j] += b.second[j];
  }
}

/// The memory for both numbers of all columns of a layer, `[2, num_columns]`.
struct LayerSums {
  double* values = nullptr;
  int64_t num_columns = 0;

  double* first(int64_t column) const { return values + column; }
  double* second(int64_t column) const { return values + num_columns + column; }
};

using Merge = void (*)(ColumnSums&, const ColumnSums&, int64_t);

// Sums a subtree for `count` columns, with load(range, sums) for each leaf, and writes both numbers
// of the columns to `first` and `second`.
template <class IsLeaf, class Load>
void sum_columns(const ShardRange& subtree, int64_t count, const IsLeaf& is_leaf, const Load& load,
                 Merge merge_sums, double* first, double* second) {
  std::array<ColumnSums, kMaxTreeDepths> tree;
  const auto at = [&](int64_t depth) -> ColumnSums& {
    return tree[static_cast<std::size_t>(depth)];
  };
  sum_tree(
      subtree, 0, is_leaf, [&](const ShardRange& range, int64_t depth) { load(range, at(depth)); },
      [&](int64_t depth) { merge_sums(at(depth), at(depth + 1), count); });
  std::copy_n(tree.front().first.data(), count, first);
  std::copy_n(tree.front().second.data(), count, second);
}

// Calls body(first column, count) for a few columns at a time.
template <class Body>
void for_each_columns(int64_t num_columns, const Body& body) {
  for (int64_t column = 0; column < num_columns; column += kColumns) {
    body(column, std::min(kColumns, num_columns - column));
  }
}

// Computes the sums of the columns of `region` for each subtree of this process, from those of its
// shards.
template <class Load>
void sum_shards(const RowSums& sums, const Region& region, const LayerSums& out, const Load& load,
                Merge merge_sums) {
  for (std::size_t i = 0; i < sums.subtrees.size(); ++i) {
    const LayerSums subtree{out.values + static_cast<int64_t>(i) * 2 * out.num_columns,
                            out.num_columns};
    for_each_columns(region.tile.num_columns, [&](int64_t column, int64_t count) {
      sum_columns(
          sums.subtrees[i], count, is_single_shard,
          [&](const ShardRange& shard, ColumnSums& to) { load(shard.begin, column, count, to); },
          merge_sums, subtree.first(region.column + column),
          subtree.second(region.column + column));
    });
  }
}

// Computes the sums over the batch from those of the subtrees of all processes.
void sum_subtrees(const RowSums& sums, std::span<const double> mine, const LayerSums& out,
                  int64_t num_members, Merge merge_sums) {
  const std::span<const double> values =
      sums.gather ? sums.gather(mine, 2 * static_cast<std::size_t>(out.num_columns)) : mine;
  const auto find = [&](const ShardRange& range) { return find_subtree(sums.all_subtrees, range); };
  const auto is_leaf = [&](const ShardRange& range) { return find(range).has_value(); };
  for_each_columns(out.num_columns, [&](int64_t column, int64_t count) {
    const auto load = [&](const ShardRange& range, ColumnSums& to) {
      const double* first = values.data() +
                            find(range).value() * static_cast<std::size_t>(2 * out.num_columns) +
                            static_cast<std::size_t>(column);
      std::copy_n(first, count, to.first.data());
      std::copy_n(first + out.num_columns, count, to.second.data());
      to.num_rows = sums.num_rows(range) * num_members;
    };
    sum_columns({0, sums.num_shards}, count, is_leaf, load, merge_sums, out.first(column),
                out.second(column));
  });
}

}  // namespace

bool Network::is_in_shards(const Layer& layer, const RowSums* sums) const {
  return sums != nullptr && (sums->num_shards > 1 || sums->gather) &&
         layer.block.norm == config::Norm::kBatch &&
         !layer.block.uses_running_statistics(Mode::kTraining);
}

// Returns the rows of a shard in a region that has all rows.
Region Network::shard_region(const RowSums& sums, int64_t shard, const Region& region) const {
  const RowRange rows = rows_of_shard(sums, shard);
  Region result = region;
  result.row = rows.begin * num_members_;
  result.tile.num_rows = rows.count * num_members_;
  return result;
}

void Network::shard_moments(Layer& layer, const RowSums& sums, const Region& region) const {
  const auto load = [&](int64_t shard, int64_t column, int64_t count, ColumnSums& to) {
    Region part = shard_region(sums, shard, region);
    part.tile.num_columns = count;
    kernels_.batch_norm_moments(part.tile,
                                layer.pre.get() + part.row * layer.stride + region.column + column,
                                {to.first.data(), to.second.data()});
    to.num_rows = part.tile.num_rows;
  };
  sum_shards(sums, region, {layer.subtree_sums.data(), layer.block.num_outputs}, load, merge);
}

void Network::merge_moments(Layer& layer, const RowSums& sums) const {
  const TimedWork timed(Work::kReduce);
  const std::size_t size = sums.subtrees.size() * layer.batch_sums.size();
  sum_subtrees(sums, {layer.subtree_sums.data(), size},
               {layer.batch_sums.data(), layer.block.num_outputs}, num_members_, merge);
}

void Network::shard_gradient_sums(Layer& layer, const RowSums& sums, const Region& region) const {
  const auto load = [&](int64_t shard, int64_t column, int64_t count, ColumnSums& to) {
    Region part = shard_region(sums, shard, region);
    part.column += column;
    part.tile.num_columns = count;
    kernels_.batch_norm_gradient_sums(part.tile, norm_gradient_buffers(layer, part),
                                      {to.first.data(), to.second.data()});
  };
  sum_shards(sums, region, {layer.subtree_sums.data(), layer.block.num_outputs}, load, add);
}

void Network::merge_gradient_sums(Layer& layer, const RowSums& sums) const {
  const TimedWork timed(Work::kReduce);
  const std::size_t size = sums.subtrees.size() * layer.batch_sums.size();
  sum_subtrees(sums, {layer.subtree_sums.data(), size},
               {layer.batch_sums.data(), layer.block.num_outputs}, num_members_, add);
}

}  // namespace trainer::cpu
