// SPDX-License-Identifier: Apache-2.0
// In the products of a layer with its weights, each thread computes some of the rows and so needs
// all weights, packed: it packs some of them, and reads what others have packed from shared memory
// (SharedPanels). The last layer has the outputs of each member in training, in inference their
// mean.
#include "trainer/nn/cpu/network.h"

#include <algorithm>
#include <cstddef>

#include "trainer/base/time/timeline.h"
#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/combine.h"

#include "nn/cpu/shard_sums.h"

namespace trainer::cpu {
namespace {

// So few that the input of an activation stays in the second level cache.
constexpr int64_t kPanelsPerRange = 8;
constexpr int64_t kMinRows = 16;  // the fewest rows that a thread takes through the network

TensorMemory from_column(const TensorMemory& tensor, int64_t column) {
  return {.value = tensor.value + column,
          .update = tensor.update == nullptr ? nullptr : tensor.update + column};
}

}  // namespace

Network::Network(const network::NetworkSpec& spec, std::span<const TensorMemory> tensors,
                 int64_t max_rows, int64_t max_shards, ThreadTeam& team, const Kernels& kernels,
                 config::Precision precision)
    : Network(make_blocks(spec, tensors), spec.num_features, max_rows, max_shards, team, kernels,
              precision) {}

Network::Network(const Blocks& blocks, int64_t num_features, int64_t max_rows, int64_t max_shards,
                 ThreadTeam& team, const Kernels& kernels, config::Precision precision)
    : max_rows_(max_rows),
      max_shards_(max_shards),
      team_(team),
      kernels_(kernels),
      multiply_(precision == config::Precision::kBf16 ? kernels.multiply_bf16 : kernels.multiply),
      encoder_(blocks, num_features, blocks.blocks.front().num_inputs, max_rows, kernels),
      num_members_(blocks.num_members),
      mean_(blocks.mean),
      output_scale_(blocks.output_scale) {
  const std::vector<Block>& all = blocks.blocks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    layers_.push_back(make_layer(all[i], /*is_hidden=*/i + 1 < all.size()));
    has_batch_norm_ = has_batch_norm_ || all[i].norm == config::Norm::kBatch;
    has_layer_norm_ = has_layer_norm_ || all[i].norm == config::Norm::kLayer;
  }
  while (!encoder_.is_trained() && first_trained_ + 1 < all.size() &&
         !all[first_trained_].is_trained()) {
    ++first_trained_;
  }
  if (!has_batch_norm_) make_panels(precision);
  const int64_t scratch_floats = kernels.scratch_floats + tree_depth(max_shards) * kTreeTileFloats;
  for (int64_t i = 0; i < team_.num_threads(); ++i) scratch_.emplace_back(scratch_floats);
  if (num_members_ == 1) return;
  combined_ = Buffer(max_rows_ * layers_.back().stride);
  no_bias_ = Buffer(layers_.back().stride);
}

Network::Layer Network::make_layer(const Block& block, bool is_hidden) const {
  Layer layer;
  layer.block = block;
  layer.stride = padded_stride(block.num_outputs);
  const int64_t max_rows = max_rows_ * num_members_;
  const int64_t size = max_rows * layer.stride;
  layer.pre = Buffer(size);
  if (!is_hidden) {
    layer.pre_gradient = layer.pre.get();  // the loss overwrites the outputs with their gradient
    return layer;
  }
  layer.out = Buffer(size);
  if (block.dropout > 0) layer.noise = Buffer(size);
  if (block.mix.update != nullptr) layer.mix_gradients = Buffer(size);
  const bool is_layer_norm = block.norm == config::Norm::kLayer;
  layer.inverse_std = Buffer(std::max(max_rows, block.num_outputs));
  if (block.norm == config::Norm::kBatch) {
    const int64_t max_subtrees = 2 * tree_depth(max_shards_) + 1;
    layer.subtree_sums.resize(static_cast<std::size_t>(max_subtrees * 2 * block.num_outputs));
    layer.batch_sums.resize(static_cast<std::size_t>(2 * block.num_outputs));
  }
  // A residual needs the gradient of `out` again later, a layer norm the gradient of its output.
  layer.gradients = Buffer((1 + (block.has_skip ? 1 : 0) + (is_layer_norm ? 1 : 0)) * size);
  layer.out_gradient = layer.gradients.get();
  layer.normed_gradient = layer.out_gradient + (block.has_skip ? size : 0);
  layer.pre_gradient = layer.normed_gradient + (is_layer_norm ? size : 0);
  return layer;
}

int64_t Network::memory_bytes() const {
  int64_t floats = encoder_.num_floats() + combined_.size() + no_bias_.size();
  for (const Layer& layer : layers_) floats += layer.num_floats();
  for (const Buffer& scratch : scratch_) floats += scratch.size();
  return floats * static_cast<int64_t>(sizeof(float));
}

// Cuts between panels first, because a product packs its panel of B for all rows. Makes more tiles
// than threads, because a thread may be delayed, as long as a tile is enough work to be
// distributed.
TileGrid Network::make_grid(int64_t num_rows, int64_t num_columns, int64_t depth) const {
  constexpr int64_t kMinTileRows = 32;
  constexpr int64_t kMaxTilesPerThread = 4;
  constexpr int64_t kMinTileWork = 1 << 20;  // multiply-adds
  const int64_t num_threads = team_.num_threads();
  const int64_t wanted_tiles = num_threads == 1
                                   ? 1
                                   : std::clamp(num_rows * num_columns * depth / kMinTileWork,
                                                num_threads, kMaxTilesPerThread * num_threads);
  const int64_t num_panels = ceil_div(num_columns, kernels_.panel_columns);
  const int64_t panels_per_tile = ceil_div(num_panels, std::min(num_panels, wanted_tiles));
  TileGrid grid{.num_rows = num_rows, .num_columns = num_columns};
  grid.tile_columns = panels_per_tile * kernels_.panel_columns;
  grid.grid_columns = ceil_div(num_columns, grid.tile_columns);
  const int64_t wanted_rows = std::clamp<int64_t>(wanted_tiles / grid.grid_columns, 1,
                                                  std::max<int64_t>(1, num_rows / kMinTileRows));
  // At least 1, even without rows.
  grid.tile_rows = std::max<int64_t>(1, ceil_div(num_rows, wanted_rows));
  grid.grid_rows = ceil_div(num_rows, grid.tile_rows);
  return grid;
}

const float* Network::layer_input(std::size_t index) const {
  return index == 0 ? encoder_.values() : layers_[index - 1].out.get();
}

int64_t Network::input_stride(std::size_t index) const {
  return index == 0 ? encoder_.stride() : layers_[index - 1].stride;
}

ActivationBuffers Network::activation_buffers(std::size_t index, const Region& region,
                                              Mode mode) const {
  const Layer& layer = layers_[index];
  const Block& block = layer.block;
  const int64_t at = region.row * layer.stride + region.column;
  const bool has_norm = block.norm != config::Norm::kNone;
  ActivationBuffers b;
  b.pre = layer.pre.get() + at;
  b.scale = has_norm ? block.norm_weight.value + region.column : nullptr;
  b.shift = (has_norm ? block.norm_bias : block.bias).value + region.column;
  b.mix = block.mix.value == nullptr ? nullptr : block.mix.value + region.column;
  b.noise = block.dropout > 0 && mode == Mode::kTraining ? layer.noise.get() + at : nullptr;
  b.skip = block.has_skip ? layer_input(index) + at : nullptr;
  b.out = layer.out.get() + at;
  return b;
}

NormBuffers Network::norm_buffers(const Layer& layer, const Region& region) const {
  NormBuffers b;
  b.values = layer.pre.get() + region.row * layer.stride + region.column;
  b.bias = layer.block.bias.value + region.column;
  b.inverse_std = layer.inverse_std.get();
  if (layer.block.norm == config::Norm::kLayer) {
    b.inverse_std += region.row;
  } else {
    b.inverse_std += region.column;
    b.running_mean = from_column(layer.block.running_mean, region.column);
    b.running_var = from_column(layer.block.running_var, region.column);
  }
  return b;
}

// A batch norm needs all rows of a column, a layer norm all columns of a row.
bool Network::is_row_parallel(int64_t num_rows) const {
  if (has_batch_norm_) return false;
  return has_layer_norm_ || num_rows >= kMinRows * team_.num_threads();
}

void Network::infer(int64_t thread, const NetworkBatch& batch, LossFunction loss,
                    FunctionRef<void()> last) {
  run(thread, batch, nullptr, loss, last);
}

void Network::train(int64_t thread, const NetworkBatch& batch, const RowSums& sums,
                    LossFunction loss, FunctionRef<void()> last) {
  run(thread, batch, &sums, loss, last);
}

void Network::run(int64_t thread, const NetworkBatch& batch, const RowSums* sums, LossFunction loss,
                  FunctionRef<void()> last) {
  if (is_row_parallel(batch.num_rows * num_members_)) {
    run_row_parallel(thread, batch, sums == nullptr ? Mode::kInference : Mode::kTraining, loss,
                     last);
  } else {
    run_layer_parallel(thread, batch, sums, loss, last);
  }
}

// Fills in the features of the batch, and the dropout noise of all layers.
void Network::fill_rows(const NetworkBatch& batch, int64_t row, int64_t num_rows, Mode mode) {
  const TimedWork timed(Work::kGather);
  encoder_.encode(batch.source, batch.rows, row, num_rows);
  if (mode == Mode::kInference) return;
  for (const Layer& layer : layers_) {
    const Block& block = layer.block;
    if (block.dropout == 0) continue;
    kernels_.make_noise({.seed = batch.dropout_seed,
                         .layer = block.dropout_stream,
                         .probability = block.dropout * batch.dropout_factor},
                        (batch.first_row + row) * num_members_,
                        {.num_rows = num_rows * num_members_,
                         .num_columns = block.num_outputs,
                         .stride = layer.stride},
                        layer.noise.get() + row * num_members_ * layer.stride);
  }
}

// Calls body(region) for rows [row, row + num_rows) of the layer, a few columns at a time unless a
// norm needs all columns.
template <class Body>
void Network::for_each_column_range(std::size_t index, int64_t row, int64_t num_rows,
                                    const Body& body) {
  const Layer& layer = layers_[index];
  const int64_t num_columns = layer.block.num_outputs;
  const int64_t step = layer.block.norm == config::Norm::kLayer
                           ? num_columns
                           : kPanelsPerRange * kernels_.panel_columns;
  for (int64_t column = 0; column < num_columns; column += step) {
    const Tile tile{.num_rows = num_rows,
                    .num_columns = std::min(step, num_columns - column),
                    .stride = layer.stride};
    body(Region{.row = row, .column = column, .tile = tile});
  }
}

// Each thread takes its rows through all layers, forward and backward: no thread waits.
void Network::run_row_parallel(int64_t thread, const NetworkBatch& batch, Mode mode,
                               LossFunction loss, FunctionRef<void()> last) {
  const int64_t step =
      std::max<int64_t>(1, std::clamp(ceil_div(batch.num_rows * num_members_, team_.num_threads()),
                                      kMinRows, kMaxLossRows) /
                               num_members_);
  const int64_t num_blocks = ceil_div(batch.num_rows, step);
  const Worker worker{
      .scratch = scratch(thread), .thread = thread, .shares_panels = num_blocks > 1};
  const auto run_rows = [&](int64_t i) {
    const int64_t batch_row = i * step;
    const int64_t num_batch_rows = std::min(step, batch.num_rows - batch_row);
    const int64_t row = batch_row * num_members_;
    const int64_t num_rows = num_batch_rows * num_members_;
    fill_rows(batch, batch_row, num_batch_rows, mode);
    for (std::size_t index = 0; is_hidden(index); ++index) {
      for_each_column_range(index, row, num_rows,
                            [&](const Region& region) { compute(index, region, mode, worker); });
    }
    loss(batch_row, compute_outputs(row, num_rows, mode, worker));
    if (mode == Mode::kInference) return;
    for (std::size_t index = layers_.size() - 1; index > first_trained_; --index) {
      for_each_column_range(index - 1, row, num_rows, [&](const Region& region) {
        activation_gradient(index, region, worker);
        norm_gradient(index, region, nullptr);  // row-parallel passes have no batch norm
      });
    }
    if (encoder_.is_trained()) {
      const Tile tile{.num_rows = num_rows,
                      .num_columns = num_gradient_columns(),
                      .stride = encoder_.gradient_stride()};
      encoder_gradient({.row = row, .column = 0, .tile = tile}, worker);
    }
  };
  team_.parallel_for(thread, num_blocks, run_rows, [&] {
    last();
    pass_ += 2;  // the weights may change
  });
}

// The tiles have whole columns for a batch norm, whole rows for a layer norm.
TileGrid Network::layer_grid(std::size_t index, int64_t num_rows) const {
  const Block& block = layers_[index].block;
  TileGrid grid = make_grid(num_rows, block.num_outputs, block.num_inputs);
  grid.tile_rows = ceil_div(grid.tile_rows, num_members_) * num_members_;
  if (block.norm == config::Norm::kBatch) grid.tile_rows = std::max<int64_t>(1, num_rows);
  if (block.norm == config::Norm::kLayer) grid.tile_columns = block.num_outputs;
  grid.grid_rows = block.norm == config::Norm::kBatch ? 1 : ceil_div(num_rows, grid.tile_rows);
  grid.grid_columns = ceil_div(block.num_outputs, grid.tile_columns);
  return grid;
}

// All threads work on one layer at a time.
void Network::run_layer_parallel(int64_t thread, const NetworkBatch& batch, const RowSums* sums,
                                 LossFunction loss, FunctionRef<void()> last) {
  const Mode mode = sums == nullptr ? Mode::kInference : Mode::kTraining;
  const int64_t num_rows = batch.num_rows * num_members_;
  const int64_t step = std::max<int64_t>(1, kMinRows / num_members_);
  const int64_t num_blocks = ceil_div(batch.num_rows, step);
  const auto rows_in_block = [&](int64_t i) { return std::min(step, batch.num_rows - i * step); };
  team_.parallel_for(thread, num_blocks,
                     [&](int64_t i) { fill_rows(batch, i * step, rows_in_block(i), mode); });
  for (std::size_t index = 0; is_hidden(index); ++index) {
    compute_layer(thread, index, num_rows, sums);
  }
  const auto run_block = [&](int64_t i) {
    loss(i * step, compute_outputs(i * step * num_members_, rows_in_block(i) * num_members_, mode,
                                   {scratch(thread)}));
  };
  team_.parallel_for(thread, num_blocks, run_block, last);
  if (mode == Mode::kInference) return;
  for (std::size_t index = layers_.size() - 1; index > first_trained_; --index) {
    compute_gradient_below(thread, index, num_rows, *sums);
  }
  if (!encoder_.is_trained()) return;
  TileGrid tiles = make_grid(num_rows, num_gradient_columns(), layers_.front().block.num_outputs);
  tiles.tile_rows = ceil_div(tiles.tile_rows, num_members_) * num_members_;
  tiles.grid_rows = ceil_div(num_rows, tiles.tile_rows);
  team_.parallel_for(thread, tiles.num_tiles(), [&](int64_t i) {
    encoder_gradient(tile_region(tiles, i, encoder_.gradient_stride()), {scratch(thread)});
  });
}

// A batch norm over several shards first needs the moments of all of them.
void Network::compute_layer(int64_t thread, std::size_t index, int64_t num_rows,
                            const RowSums* sums) {
  Layer& layer = layers_[index];
  const Mode mode = sums == nullptr ? Mode::kInference : Mode::kTraining;
  const TileGrid tiles = layer_grid(index, num_rows);
  const auto region = [&](int64_t i) { return tile_region(tiles, i, layer.stride); };
  if (!is_in_shards(layer, sums)) {
    team_.parallel_for(thread, tiles.num_tiles(),
                       [&](int64_t i) { compute(index, region(i), mode, {scratch(thread)}); });
    return;
  }
  const auto multiply_tile = [&](int64_t i) {
    const TimedWork timed(Work::kForward, index + 1);
    multiply(index, region(i), {scratch(thread)});
    shard_moments(layer, *sums, region(i));
  };
  team_.parallel_for(thread, tiles.num_tiles(), multiply_tile,
                     [&] { merge_moments(layer, *sums); });
  const ColumnMoments moments{layer.batch_sums.data(),
                              layer.batch_sums.data() + layer.block.num_outputs};
  team_.parallel_for(thread, tiles.num_tiles(), [&](int64_t i) {
    const TimedWork timed(Work::kForward, index + 1);
    const int64_t column = region(i).column;
    kernels_.batch_norm_with(region(i).tile, norm_buffers(layer, region(i)),
                             {moments.means + column, moments.squares + column},
                             sums->num_batch_rows * num_members_);
    activate(index, region(i), mode);
  });
}

// Computes the gradients of the layer below `index`, from that of its output to that of the output
// of its linear layer.
void Network::compute_gradient_below(int64_t thread, std::size_t index, int64_t num_rows,
                                     const RowSums& sums) {
  Layer& below = layers_[index - 1];
  const TileGrid tiles = layer_grid(index - 1, num_rows);
  const auto region = [&](int64_t i) { return tile_region(tiles, i, below.stride); };
  if (!is_in_shards(below, &sums)) {
    team_.parallel_for(thread, tiles.num_tiles(), [&](int64_t i) {
      activation_gradient(index, region(i), {scratch(thread)});
      norm_gradient(index, region(i), &sums);
    });
    return;
  }
  const auto gradient_of_tile = [&](int64_t i) {
    activation_gradient(index, region(i), {scratch(thread)});
    shard_gradient_sums(below, sums, region(i));
  };
  team_.parallel_for(thread, tiles.num_tiles(), gradient_of_tile,
                     [&] { merge_gradient_sums(below, sums); });
  team_.parallel_for(thread, tiles.num_tiles(),
                     [&](int64_t i) { norm_gradient(index, region(i), &sums); });
}

// Computes a region of a hidden layer: linear layer, norm, activation, dropout and residual.
void Network::compute(std::size_t index, const Region& region, Mode mode, const Worker& worker) {
  const TimedWork timed(Work::kForward, index + 1);
  const Layer& layer = layers_[index];
  multiply(index, region, worker);
  if (layer.block.norm == config::Norm::kLayer) {
    kernels_.layer_norm(region.tile, norm_buffers(layer, region));
  } else if (layer.block.norm == config::Norm::kBatch) {
    if (layer.block.uses_running_statistics(mode)) {
      kernels_.frozen_batch_norm(region.tile, norm_buffers(layer, region));
    } else {
      kernels_.batch_norm(region.tile, norm_buffers(layer, region));
    }
  }
  activate(index, region, mode);
}

void Network::activate(std::size_t index, const Region& region, Mode mode) {
  kernels_.activate(layers_[index].block.activation, region.tile,
                    activation_buffers(index, region, mode));
}

LossInput Network::compute_outputs(int64_t row, int64_t num_rows, Mode mode, const Worker& worker) {
  const TimedWork timed(Work::kForward, layers_.size());
  const Layer& layer = layers_.back();
  LossInput input;
  input.num_members = num_members_;
  input.tile = {
      .num_rows = num_rows, .num_columns = layer.block.num_outputs, .stride = layer.stride};
  input.outputs = layer.pre.get() + row * layer.stride;
  input.bias = layer.block.bias.value;
  multiply(layers_.size() - 1, {.row = row, .column = 0, .tile = input.tile}, worker);
  if (num_members_ == 1) return input;
  for (int64_t i = 0; i < num_rows; ++i) {
    const float* bias = layer.block.bias.value + i % num_members_ * layer.block.num_outputs;
    for (int64_t j = 0; j < layer.block.num_outputs; ++j) {
      input.outputs[i * layer.stride + j] += bias[j];
    }
  }
  input.bias = no_bias_.get();
  return mode == Mode::kTraining ? input : combine(input, row / num_members_);
}

LossInput Network::combine(const LossInput& members, int64_t row) {
  LossInput input = members;
  input.num_members = 1;
  input.tile.num_rows /= num_members_;
  input.outputs = combined_.get() + row * input.tile.stride;
  combine_members(mean_,
                  {.values = members.outputs,
                   .num_members = num_members_,
                   .member_stride = members.tile.stride,
                   .num_rows = input.tile.num_rows,
                   .row_stride = num_members_ * members.tile.stride,
                   .num_columns = input.tile.num_columns},
                  input.outputs, input.tile.stride);
  if (output_scale_.value == nullptr) return input;
  for (int64_t i = 0; i < input.tile.num_rows; ++i) {
    float* outputs = input.outputs + i * input.tile.stride;
    for (int64_t j = 0; j < input.tile.num_columns; ++j) outputs[j] *= *output_scale_.value;
  }
  return input;
}

namespace {

WeightPanels panels_for(const Kernels& kernels, int64_t num_members, int64_t depth,
                        int64_t num_columns) {
  WeightPanels panels;
  panels.num_depth_blocks = ceil_div(depth, kernels.panel_depth);
  panels.num_panels = ceil_div(num_columns, kernels.panel_columns);
  const int64_t count = num_members * panels.num_depth_blocks * panels.num_panels;
  panels.memory = Buffer(count * kernels.panel_depth * kernels.panel_columns);
  panels.states = std::make_unique<uint32_t[]>(static_cast<std::size_t>(count));
  return panels;
}

}  // namespace

// Measurements (docs/performance.md) show that sharing weights that do not stay in a second level
// cache is slower than packing them twice. In fp32 that also holds for few weights; in bf16 they
// have to be rounded, which sharing saves.
void Network::make_panels(config::Precision precision) {
  constexpr int64_t kMaxWeights = 1 << 18;
  const int64_t min_weights = precision == config::Precision::kBf16 ? 0 : 1 << 15;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Block& block = layers_[i].block;
    if (block.num_weights() < min_weights || block.num_weights() > kMaxWeights) continue;
    layers_[i].panels =
        panels_for(kernels_, block.num_members, block.num_inputs, block.num_outputs);
    const bool needs_gradient = i > first_trained_ || encoder_.is_trained();
    if (!needs_gradient) continue;
    layers_[i].gradient_panels =
        panels_for(kernels_, block.num_members, block.num_outputs, block.num_inputs);
  }
}

SharedPanels Network::shared_panels(const WeightPanels& panels, int64_t member, int64_t column,
                                    int64_t num_columns, const Worker& worker) const {
  if (!worker.shares_panels || panels.states == nullptr) return {};
  const int64_t first = member * panels.num_depth_blocks * panels.num_panels;
  const int64_t of_product = ceil_div(num_columns, kernels_.panel_columns);
  return {.memory = panels.memory.get() + first * kernels_.panel_depth * kernels_.panel_columns,
          .states = panels.states.get() + first,
          .pass = pass_,
          .num_panels = panels.num_panels,
          .first_panel = column / kernels_.panel_columns,
          .start = of_product * worker.thread / team_.num_threads()};
}

// Computes a linear layer without its bias. If members have weights of their own, the weights of
// each multiply only its rows: every num_members-th row.
void Network::multiply(std::size_t index, const Region& region, const Worker& worker) {
  const Layer& layer = layers_[index];
  const Block& block = layer.block;
  for (int64_t member = 0; member < block.num_members; ++member) {
    const int64_t row = region.row + member;
    multiply_({.num_rows = region.tile.num_rows / block.num_members,
               .num_columns = region.tile.num_columns,
               .depth = block.num_inputs,
               .a = layer_input(index) + row * input_stride(index),
               .a_row = block.num_members * input_stride(index),
               .a_depth = 1,
               .b = block.member_weight(member) + region.column * block.num_inputs,
               .b_depth = 1,
               .b_column = block.num_inputs,
               .c = layer.pre.get() + row * layer.stride + region.column,
               .c_row = block.num_members * layer.stride,
               .accumulate = Accumulate::kNo,
               .shared = shared_panels(layer.panels, member, region.column, region.tile.num_columns,
                                       worker)},
              worker.scratch);
  }
}

// Computes the gradient with respect to the inputs of a linear layer, from `column` on; see
// multiply().
void Network::multiply_gradient(const Layer& layer, const Region& region, int64_t column,
                                float* out, int64_t out_stride, Accumulate accumulate,
                                const Worker& worker) const {
  const int64_t num_members = layer.block.num_members;
  for (int64_t member = 0; member < num_members; ++member) {
    multiply_({.num_rows = region.tile.num_rows / num_members,
               .num_columns = region.tile.num_columns,
               .depth = layer.block.num_outputs,
               .a = layer.pre_gradient + (region.row + member) * layer.stride,
               .a_row = num_members * layer.stride,
               .a_depth = 1,
               .b = layer.block.member_weight(member) + column,
               .b_depth = layer.block.num_inputs,
               .b_column = 1,
               .c = out + member * out_stride,
               .c_row = num_members * out_stride,
               .accumulate = accumulate,
               .shared = shared_panels(layer.gradient_panels, member, column,
                                       region.tile.num_columns, worker)},
              worker.scratch);
  }
}

}  // namespace trainer::cpu
