// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/network.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trainer/cpu/parts.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kPanelsAtOnce = 8;  // what an activation then finds in the second level cache
constexpr int64_t kFewestRowsAtOnce = 16;

TensorMemory from_column(const TensorMemory& tensor, int64_t column) {
  return {tensor.value + column, tensor.update == nullptr ? nullptr : tensor.update + column};
}

}  // namespace

Network::Network(const network::NetworkSpec& spec, std::span<const TensorMemory> tensors,
                 int64_t max_rows, Team& team, const Kernels& kernels)
    : num_features_(spec.num_features), max_rows_(max_rows), team_(team), kernels_(kernels) {
  const Blocks made = make_blocks(spec, tensors);
  const std::vector<Block>& blocks = made.blocks;
  num_numeric_ = num_features_ - std::ssize(made.tables);
  features_stride_ = padded_stride(blocks.front().num_inputs);
  features_ = Buffer(max_rows_ * features_stride_);
  make_lookups(made.tables);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    layers_.push_back(make_layer(blocks[i], /*is_hidden=*/i + 1 < blocks.size()));
    has_batch_norm_ = has_batch_norm_ || blocks[i].norm == config::Norm::kBatch;
    has_layer_norm_ = has_layer_norm_ || blocks[i].norm == config::Norm::kLayer;
  }
  while (!trains_tables() && first_trained_ + 1 < blocks.size() &&
         !blocks[first_trained_].is_trained()) {
    ++first_trained_;
  }
  for (int64_t i = 0; i < team_.num_threads(); ++i) scratch_.emplace_back(kernels.scratch_floats);
}

Network::Layer Network::make_layer(const Block& block, bool is_hidden) const {
  Layer layer;
  layer.block = block;
  layer.stride = padded_stride(block.num_outputs);
  const int64_t size = max_rows_ * layer.stride;
  layer.pre = Buffer(size);
  if (!is_hidden) {
    layer.pre_gradient = layer.pre.get();  // the loss puts it there
    return layer;
  }
  layer.out = Buffer(size);
  if (block.dropout > 0) layer.noise = Buffer(size);
  const bool is_layer_norm = block.norm == config::Norm::kLayer;
  layer.inverse_std = Buffer(std::max(max_rows_, block.num_outputs));
  // A residual needs the gradient of `out` later, the columns of a layer norm that of its output.
  layer.gradients = Buffer((1 + (block.has_skip ? 1 : 0) + (is_layer_norm ? 1 : 0)) * size);
  layer.out_gradient = layer.gradients.get();
  layer.normed_gradient = layer.out_gradient + (block.has_skip ? size : 0);
  layer.pre_gradient = layer.normed_gradient + (is_layer_norm ? size : 0);
  return layer;
}

// Tiles, cut between panels first: a product packs its panel of B for all rows. There are more than
// threads, for one may be held up, as long as a tile is worth its hand-over.
Network::Division Network::divide(int64_t num_rows, int64_t num_columns, int64_t depth) const {
  constexpr int64_t kFewestRows = 32;
  constexpr int64_t kMostPerThread = 4;
  constexpr int64_t kWorthwhile = 1 << 20;  // multiply-adds
  const int64_t num_threads = team_.num_threads();
  const int64_t num_wanted = num_threads == 1
                                 ? 1
                                 : std::clamp(num_rows * num_columns * depth / kWorthwhile,
                                              num_threads, kMostPerThread * num_threads);
  const int64_t num_panels = num_parts(num_columns, kernels_.panel_columns);
  const int64_t panels_at_once = num_parts(num_panels, std::min(num_panels, num_wanted));
  Division d{.num_rows = num_rows, .num_columns = num_columns};
  d.column_step = panels_at_once * kernels_.panel_columns;
  d.num_column_parts = num_parts(num_columns, d.column_step);
  const int64_t row_parts = std::clamp<int64_t>(num_wanted / d.num_column_parts, 1,
                                                std::max<int64_t>(1, num_rows / kFewestRows));
  d.row_step = num_parts(num_rows, row_parts);
  d.num_row_parts = num_parts(num_rows, d.row_step);
  return d;
}

Network::Part Network::part_of(const Division& d, int64_t index, int64_t stride) {
  Part part;
  part.row = index / d.num_column_parts * d.row_step;
  part.column = index % d.num_column_parts * d.column_step;
  part.tile = {std::min(d.row_step, d.num_rows - part.row),
               std::min(d.column_step, d.num_columns - part.column), stride};
  return part;
}

const float* Network::input_of(std::size_t index) const {
  return index == 0 ? features_.get() : layers_[index - 1].out.get();
}

int64_t Network::input_stride(std::size_t index) const {
  return index == 0 ? features_stride_ : layers_[index - 1].stride;
}

ActivationBuffers Network::activation_buffers(std::size_t index, const Part& part,
                                              Mode mode) const {
  const Layer& layer = layers_[index];
  const Block& block = layer.block;
  const int64_t at = part.row * layer.stride + part.column;
  const bool has_norm = block.norm != config::Norm::kNone;
  ActivationBuffers b;
  b.pre = layer.pre.get() + at;
  b.scale = has_norm ? block.norm_weight.value + part.column : nullptr;
  b.shift = (has_norm ? block.norm_bias : block.bias).value + part.column;
  b.noise = block.dropout > 0 && mode == Mode::kTraining ? layer.noise.get() + at : nullptr;
  b.skip = block.has_skip ? input_of(index) + at : nullptr;
  b.out = layer.out.get() + at;
  return b;
}

NormBuffers Network::norm_buffers(const Layer& layer, const Part& part) const {
  NormBuffers b;
  b.values = layer.pre.get() + part.row * layer.stride + part.column;
  b.bias = layer.block.bias.value + part.column;
  b.inverse_std = layer.inverse_std.get();
  if (layer.block.norm == config::Norm::kLayer) {
    b.inverse_std += part.row;
  } else {
    b.inverse_std += part.column;
    b.running_mean = from_column(layer.block.running_mean, part.column);
    b.running_var = from_column(layer.block.running_var, part.column);
  }
  return b;
}

// A batch norm needs all rows of a column, a layer norm all columns of a row.
bool Network::goes_by_rows(int64_t num_rows) const {
  if (has_batch_norm_) return false;
  return has_layer_norm_ || num_rows >= kFewestRowsAtOnce * team_.num_threads();
}

void Network::pass(int64_t thread, const NetworkBatch& batch, Mode mode, bool adds, Loss loss,
                   FunctionRef<void()> last) {
  if (goes_by_rows(batch.num_rows)) {
    pass_by_rows(thread, batch, mode, loss, last);
  } else {
    pass_by_columns(thread, batch, mode, adds, loss, last);
  }
}

// The batch's features, and the noise of all layers.
void Network::fill_rows(const NetworkBatch& batch, int64_t row, int64_t num_rows, Mode mode) {
  kernels_.gather(batch.source, batch.rows + row, {num_rows, num_features_, features_stride_},
                  features_.get() + row * features_stride_);
  look_up(row, num_rows);
  if (mode == Mode::kInference) return;
  for (const Layer& layer : layers_) {
    const Block& block = layer.block;
    if (block.dropout == 0) continue;
    kernels_.make_noise({batch.dropout_seed, block.dropout_stream, block.dropout},
                        batch.first_row + row, {num_rows, block.num_outputs, layer.stride},
                        layer.noise.get() + row * layer.stride);
  }
}

// Calls body(part) for rows [row, row + num_rows) of the layer, a few columns at a time unless a
// norm needs them all.
template <class Body>
void Network::for_each_column_part(std::size_t index, int64_t row, int64_t num_rows,
                                   const Body& body) {
  const Layer& layer = layers_[index];
  const int64_t num_columns = layer.block.num_outputs;
  const int64_t step = layer.block.norm == config::Norm::kLayer
                           ? num_columns
                           : kPanelsAtOnce * kernels_.panel_columns;
  for (int64_t column = 0; column < num_columns; column += step) {
    body(Part{row, column, {num_rows, std::min(step, num_columns - column), layer.stride}});
  }
}

// Each thread takes rows all the way there and back: nobody waits within the network.
void Network::pass_by_rows(int64_t thread, const NetworkBatch& batch, Mode mode, Loss loss,
                           FunctionRef<void()> last) {
  const int64_t step = std::clamp(num_parts(batch.num_rows, team_.num_threads()), kFewestRowsAtOnce,
                                  kMostRowsAtOnce);
  const auto one_part = [&](int64_t i) {
    const int64_t row = i * step;
    const int64_t num_rows = std::min(step, batch.num_rows - row);
    fill_rows(batch, row, num_rows, mode);
    for (std::size_t index = 0; is_hidden(index); ++index) {
      for_each_column_part(index, row, num_rows,
                           [&](const Part& part) { compute(index, part, mode, scratch(thread)); });
    }
    loss(row, compute_outputs(row, num_rows, scratch(thread)));
    if (mode == Mode::kInference) return;
    for (std::size_t index = layers_.size() - 1; index > first_trained_; --index) {
      for_each_column_part(index - 1, row, num_rows, [&](const Part& part) {
        input_gradient(index, part, /*adds=*/false, scratch(thread));
      });
    }
    if (trains_tables()) {
      embedded_gradient({row, 0, {num_rows, num_embedded_, embedded_stride_}}, scratch(thread));
    }
  };
  team_.share(thread, num_parts(batch.num_rows, step), one_part, last);
}

// All threads work on one layer at a time.
void Network::pass_by_columns(int64_t thread, const NetworkBatch& batch, Mode mode, bool adds,
                              Loss loss, FunctionRef<void()> last) {
  const int64_t step = kFewestRowsAtOnce;
  const int64_t num_blocks = num_parts(batch.num_rows, step);
  const auto rows_of = [&](int64_t i) { return std::min(step, batch.num_rows - i * step); };
  // Whole columns for a batch norm, whole rows for a layer norm.
  const auto tiles_of = [&](std::size_t index) {
    const Block& block = layers_[index].block;
    Division d = divide(batch.num_rows, block.num_outputs, block.num_inputs);
    if (block.norm == config::Norm::kBatch) d.row_step = batch.num_rows;
    if (block.norm == config::Norm::kLayer) d.column_step = block.num_outputs;
    d.num_row_parts = num_parts(batch.num_rows, d.row_step);
    d.num_column_parts = num_parts(block.num_outputs, d.column_step);
    return d;
  };
  team_.share(thread, num_blocks, [&](int64_t i) { fill_rows(batch, i * step, rows_of(i), mode); });
  for (std::size_t index = 0; is_hidden(index); ++index) {
    const Division tiles = tiles_of(index);
    team_.share(thread, tiles.count(), [&](int64_t i) {
      compute(index, part_of(tiles, i, layers_[index].stride), mode, scratch(thread));
    });
  }
  const auto one_block = [&](int64_t i) {
    loss(i * step, compute_outputs(i * step, rows_of(i), scratch(thread)));
  };
  team_.share(thread, num_blocks, one_block, last);
  if (mode == Mode::kInference) return;
  for (std::size_t index = layers_.size() - 1; index > first_trained_; --index) {
    const Division tiles = tiles_of(index - 1);
    team_.share(thread, tiles.count(), [&](int64_t i) {
      input_gradient(index, part_of(tiles, i, layers_[index - 1].stride), adds, scratch(thread));
    });
  }
  if (!trains_tables()) return;
  const Division tiles = divide(batch.num_rows, num_embedded_, layers_.front().block.num_outputs);
  team_.share(thread, tiles.count(), [&](int64_t i) {
    embedded_gradient(part_of(tiles, i, embedded_stride_), scratch(thread));
  });
}

// The linear part of a layer.
void Network::multiply(std::size_t index, const Part& part, float* scratch) {
  const Layer& layer = layers_[index];
  kernels_.multiply({.num_rows = part.tile.num_rows,
                     .num_columns = part.tile.num_columns,
                     .depth = layer.block.num_inputs,
                     .a = input_of(index) + part.row * input_stride(index),
                     .a_row = input_stride(index),
                     .a_depth = 1,
                     .b = layer.block.weight.value + part.column * layer.block.num_inputs,
                     .b_depth = 1,
                     .b_column = layer.block.num_inputs,
                     .c = layer.pre.get() + part.row * layer.stride + part.column,
                     .c_row = layer.stride,
                     .adds = false},
                    scratch);
}

// A hidden layer.
void Network::compute(std::size_t index, const Part& part, Mode mode, float* scratch) {
  const Layer& layer = layers_[index];
  multiply(index, part, scratch);
  if (layer.block.norm == config::Norm::kLayer) {
    kernels_.layer_norm(part.tile, norm_buffers(layer, part));
  } else if (layer.block.norm == config::Norm::kBatch) {
    if (layer.block.uses_running_statistics(mode)) {
      kernels_.frozen_batch_norm(part.tile, norm_buffers(layer, part));
    } else {
      kernels_.batch_norm(part.tile, norm_buffers(layer, part));
    }
  }
  kernels_.activate(layer.block.activation, part.tile, activation_buffers(index, part, mode));
}

LossInput Network::compute_outputs(int64_t row, int64_t num_rows, float* scratch) {
  const Layer& layer = layers_.back();
  LossInput input;
  input.tile = {num_rows, layer.block.num_outputs, layer.stride};
  input.outputs = layer.pre.get() + row * layer.stride;
  input.bias = layer.block.bias.value;
  multiply(layers_.size() - 1, {row, 0, input.tile}, scratch);
  return input;
}

}  // namespace trainer::cpu
