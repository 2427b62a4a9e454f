// SPDX-License-Identifier: Apache-2.0
// Batch norm of a batch whose rows are in several shards. The means and squared distances of the
// shards are merged in the tree of base/parallel/shard_tree.h (Chan, Golub and LeVeque, "Updating
// formulae and a pairwise algorithm for computing sample variances", 1979): first those of the
// subtrees that this process has, then, after an exchange, those of all processes. The sums for the
// gradient are added in the same way.

#include <algorithm>
#include <array>
#include <cstddef>

#include "trainer/base/time/timeline.h"
#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/network.h"

#include "nn/cpu/shard_sums.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kColumnsPerSum = 64;  // columns that one task sums over the rows

// The number of tasks that compute the gradients of biases, norms and activations of all members.
int64_t num_column_tasks(const Block& block) {
  return block.num_members * ceil_div(block.num_outputs, kColumnsPerSum);
}

// Whether the gradient of the weights is computed first and handed over early, because it is large.
bool is_early(const Block& block, const RowSums& sums) {
  constexpr int64_t kMinWeights = 1 << 16;
  return sums.finished && block.weight.update != nullptr && block.num_weights() >= kMinWeights;
}

}  // namespace

NormGradientBuffers Network::norm_gradient_buffers(const Layer& layer, const Region& region) const {
  const int64_t at = region.row * layer.stride + region.column;
  const bool is_layer_norm = layer.block.norm == config::Norm::kLayer;
  NormGradientBuffers b;
  b.normalized = layer.pre.get() + at;
  b.scale = layer.block.norm_weight.value + region.column;
  b.inverse_std = layer.inverse_std.get() + (is_layer_norm ? region.row : region.column);
  b.gradient = layer.normed_gradient + at;
  b.out = layer.pre_gradient + at;
  return b;
}

// Computes the gradient with respect to the output of the norm of the layer below `index`.
void Network::activation_gradient(std::size_t index, const Region& region, const Worker& worker) {
  const TimedWork timed(Work::kInputGradient, index + 1);
  const Layer& layer = layers_[index];
  const Layer& below = layers_[index - 1];
  const Tile& tile = region.tile;
  const int64_t at = region.row * below.stride + region.column;
  // A residual adds `out` of the layer below to `out`, so the gradient of the former begins with
  // that of the latter.
  const bool has_skip = layer.block.has_skip;
  if (has_skip) {
    for (int64_t i = 0; i < tile.num_rows; ++i) {
      std::copy_n(layer.out_gradient + at + i * tile.stride, tile.num_columns,
                  below.out_gradient + at + i * tile.stride);
    }
  }
  multiply_gradient(layer, region, region.column, below.out_gradient + at, below.stride,
                    has_skip ? Accumulate::kYes : Accumulate::kNo, worker);
  ActivationBuffers activation = activation_buffers(index - 1, region, Mode::kTraining);
  activation.out = below.normed_gradient + at;
  if (below.mix_gradients.get() != nullptr) {
    activation.mix_gradients = below.mix_gradients.get() + at;
  }
  kernels_.activation_gradient(below.block.activation, tile, activation, below.out_gradient + at);
}

// Continues from there to the gradient with respect to the output of the linear layer.
void Network::norm_gradient(std::size_t index, const Region& region, const RowSums* sums) {
  const TimedWork timed(Work::kInputGradient, index + 1);
  const Layer& below = layers_[index - 1];
  if (below.block.norm == config::Norm::kLayer) {
    kernels_.layer_norm_gradient(region.tile, norm_gradient_buffers(below, region));
  } else if (below.block.norm == config::Norm::kBatch) {
    batch_norm_gradient(below, region, *sums);
  }
}

// The gradients of scale and shift are sums over the whole batch, which every process knows. Only
// the process with the first shard contributes them; all others contribute -0, which leaves every
// sum as it is (adding 0 would turn -0 into 0).
void Network::batch_norm_gradient(const Layer& layer, const Region& region,
                                  const RowSums& sums) const {
  NormGradientBuffers buffers = norm_gradient_buffers(layer, region);
  if (layer.block.uses_running_statistics(Mode::kTraining)) {
    kernels_.frozen_batch_norm_gradient(region.tile, buffers);
    return;
  }
  for (const GradientSum& sum : sums.gradients) {
    const auto at_column = [&](float* gradient) {
      return gradient == nullptr ? nullptr : gradient + sum.offset + region.column;
    };
    float* scale = at_column(layer.block.norm_weight.update);
    float* shift = at_column(layer.block.norm_bias.update);
    if (sum.shards.begin == 0) {
      buffers.scale_gradient = scale;
      buffers.shift_gradient = shift;
      buffers.accumulate = sum.accumulate;
      continue;
    }
    for (float* gradient : {scale, shift}) {
      if (gradient != nullptr) std::fill_n(gradient, region.tile.num_columns, -0.0F);
    }
  }
  if (!is_in_shards(layer, &sums)) return kernels_.batch_norm_gradient(region.tile, buffers);
  // The kernel only reads the sums, but ColumnGradients has no const pointers.
  auto* batch_sums = const_cast<double*>(layer.batch_sums.data()) + region.column;
  kernels_.batch_norm_gradient_with(region.tile, buffers,
                                    {batch_sums, batch_sums + layer.block.num_outputs},
                                    sums.num_batch_rows * num_members_);
}

// If `sums.finished` is set, large weights come first, one layer after the other: one thread hands
// over the complete gradient while the others compute the next one.
void Network::parameter_gradients(int64_t thread, const RowSums& sums) {
  const Block* complete = nullptr;
  const auto compute = [&](int64_t num_tasks, const auto& task) {
    if (complete == nullptr) return team_.parallel_for(thread, num_tasks, task);
    team_.parallel_for(thread, 1 + num_tasks, [&](int64_t i) {
      if (i > 0) return task(i - 1);
      const TimedWork timed(Work::kReduce);
      sums.finished(complete->weight.update, complete->num_weights());
    });
  };
  int64_t num_other_tasks = encoder_.num_tasks();
  for (std::size_t index = first_trained_; index < layers_.size(); ++index) {
    const Block& block = layers_[index].block;
    num_other_tasks += num_column_tasks(block);
    if (!is_early(block, sums)) {
      num_other_tasks += num_weight_tasks(index, sums);
      continue;
    }
    compute(num_weight_tasks(index, sums), [&](int64_t i) { weight_task(index, i, sums, thread); });
    complete = &block;
  }
  compute(num_other_tasks, [&](int64_t i) { other_task(i, sums, thread); });
}

// Runs one of the tasks for all gradients that are not computed early.
void Network::other_task(int64_t task, const RowSums& sums, int64_t thread) const {
  if (task < encoder_.num_tasks()) {
    const TimedWork timed(Work::kWeightGradient);
    return encoder_.run_task(task, sums, tree(thread));
  }
  task -= encoder_.num_tasks();
  for (std::size_t index = first_trained_;; ++index) {
    const Block& block = layers_[index].block;
    const int64_t num_weights = is_early(block, sums) ? 0 : num_weight_tasks(index, sums);
    if (task < num_weights) return weight_task(index, task, sums, thread);
    task -= num_weights;
    if (task < num_column_tasks(block)) {
      const TimedWork timed(Work::kWeightGradient, index + 1);
      const int64_t num_ranges = ceil_div(block.num_outputs, kColumnsPerSum);
      return column_gradients(layers_[index], task / num_ranges, task % num_ranges * kColumnsPerSum,
                              sums, tree(thread));
    }
    task -= num_column_tasks(block);
  }
}

int64_t Network::num_weight_tasks(std::size_t index, const RowSums& sums) const {
  return layers_[index].block.num_members * weight_grid(index, sums).num_tiles();
}

TileGrid Network::weight_grid(std::size_t index, const RowSums& sums) const {
  const Block& block = layers_[index].block;
  if (block.weight.update == nullptr) return {};
  return make_grid(block.num_outputs, block.num_inputs,
                   sums.borders.back() * num_members_ / block.num_members);
}

// Computes the gradient of a tile of a member's weights.
void Network::weight_task(std::size_t index, int64_t task, const RowSums& sums,
                          int64_t thread) const {
  const TimedWork timed(Work::kWeightGradient, index + 1);
  const TileGrid grid = weight_grid(index, sums);
  // Without tiles there is no task.
  const int64_t num_tiles = std::max<int64_t>(1, grid.num_tiles());
  const int64_t member = task / num_tiles;
  const Region region = tile_region(grid, task % num_tiles, layers_[index].block.num_inputs);
  weight_gradient(index, member, region, sums, thread);
}

void Network::encoder_gradient(const Region& region, const Worker& worker) {
  const TimedWork timed(Work::kInputGradient, 1);
  const int64_t stride = encoder_.gradient_stride();
  multiply_gradient(layers_.front(), region, encoder_.gradient_column() + region.column,
                    encoder_.gradient() + region.row * stride + region.column, stride,
                    Accumulate::kNo, worker);
  encoder_.unscale_gradient(region);
}

// Computes [outputs, inputs] = pre_gradient^T [outputs, rows] * input [rows, inputs] for a region.
void Network::weight_gradient_of_rows(std::size_t index, int64_t member, const Region& region,
                                      const RowRange& rows, const TileMemory& out,
                                      Accumulate accumulate, float* scratch) const {
  const Layer& layer = layers_[index];
  const Block& block = layer.block;
  if (rows.count == 0 && accumulate == Accumulate::kNo) {
    for (int64_t i = 0; i < region.tile.num_rows; ++i) {
      std::fill_n(out.values + i * out.stride, region.tile.num_columns, 0.0F);
    }
  }
  const int64_t row = rows.begin * num_members_ + member;
  const int64_t members_apart = block.num_members;
  multiply_({.num_rows = region.tile.num_rows,
             .num_columns = region.tile.num_columns,
             .depth = rows.count * num_members_ / members_apart,
             .a = layer.pre_gradient + row * layer.stride + region.row,
             .a_row = 1,
             .a_depth = members_apart * layer.stride,
             .b = layer_input(index) + row * input_stride(index) + region.column,
             .b_depth = members_apart * input_stride(index),
             .b_column = 1,
             .c = out.values,
             .c_row = out.stride,
             .accumulate = accumulate},
            scratch);
}

// A tree of shards is summed one small tile at a time, so that the tile stays in the cache.
void Network::weight_gradient(std::size_t index, int64_t member, const Region& region,
                              const RowSums& sums, int64_t thread) const {
  const Block& block = layers_[index].block;
  const int64_t stride = block.num_inputs;
  for (const GradientSum& sum : sums.gradients) {
    float* out = block.weight.update + sum.offset + member * block.num_outputs * stride;
    if (sum.shards.size() == 1) {
      weight_gradient_of_rows(index, member, region, rows_of_shard(sums, sum.shards.begin),
                              {out + region.row * stride + region.column, stride}, sum.accumulate,
                              scratch(thread));
      continue;
    }
    for_each_tree_tile(region, [&](const Region& tile) {
      const auto memory = [&](int64_t depth) {
        return depth == 0 ? TileMemory{out + tile.row * stride + tile.column, stride}
                          : TileMemory{tree(thread) + (depth - 1) * kTreeTileFloats,
                                       tile.tile.num_columns};
      };
      sum_tree(
          sum.shards, 0, is_single_shard,
          [&](const ShardRange& shard, int64_t depth) {
            weight_gradient_of_rows(index, member, tile, rows_of_shard(sums, shard.begin),
                                    memory(depth), Accumulate::kNo, scratch(thread));
          },
          [&](int64_t depth) {
            const TileMemory to = memory(depth);
            const TileMemory from = memory(depth + 1);
            for (int64_t i = 0; i < tile.tile.num_rows; ++i) {
              add_floats(from.values + i * from.stride, tile.tile.num_columns,
                         to.values + i * to.stride);
            }
          });
    });
  }
}

// Computes the gradients of the bias, of a layer norm and of a parametric activation for a range of
// columns.
void Network::column_gradients(const Layer& layer, int64_t member, int64_t column,
                               const RowSums& sums, float* tree) const {
  const Block& block = layer.block;
  const int64_t members_apart = block.num_members;
  const int64_t stride = members_apart * layer.stride;
  const int64_t num_columns = std::min(kColumnsPerSum, block.num_outputs - column);
  // to = the sum of x, or of x * y, over the rows.
  const auto sum_rows = [&](float* to, const float* x, const float* y) {
    if (to == nullptr) return;
    const auto sum_shard = [&](int64_t shard, std::ptrdiff_t offset, Accumulate accumulate) {
      const RowRange rows = rows_of_shard(sums, shard);
      const int64_t at = (rows.begin * num_members_ + member) * layer.stride + column;
      const Tile tile{.num_rows = rows.count * num_members_ / members_apart,
                      .num_columns = num_columns,
                      .stride = stride};
      kernels_.column_sums(tile, x + at, y == nullptr ? nullptr : y + at, stride, to + offset,
                           accumulate);
    };
    sum_gradients(sums, std::array{FloatRange{to, num_columns}}, tree, sum_shard);
  };
  const auto update_of = [&](const TensorMemory& tensor) {
    return tensor.update == nullptr ? nullptr : tensor.update + member * block.num_outputs + column;
  };
  sum_rows(update_of(block.bias), layer.pre_gradient, nullptr);
  sum_rows(update_of(block.mix), layer.mix_gradients.get(), nullptr);
  if (block.norm != config::Norm::kLayer) return;
  sum_rows(update_of(block.norm_weight), layer.normed_gradient, layer.pre.get());
  sum_rows(update_of(block.norm_bias), layer.normed_gradient, nullptr);
}

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
