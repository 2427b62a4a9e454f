// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/network.h"

#include <algorithm>
#include <utility>

namespace trainer::cpu {
namespace {

constexpr int64_t kRowsAtOnce = 16;  // of work that goes row by row

int64_t parts(int64_t size, int64_t step) { return (size + step - 1) / step; }

// Rows begin at cache lines, and not all at the same place of a cache's sets.
int64_t padded_stride(int64_t num_columns) {
  constexpr int64_t kLine = 16;
  constexpr int64_t kBadMultiple = 256;  // 1 KiB
  const int64_t stride = parts(num_columns, kLine) * kLine;
  return stride % kBadMultiple == 0 ? stride + kLine : stride;
}

}  // namespace

Network::Network(NetworkOptions options, std::vector<LayerMemory> layers, int64_t max_rows,
                 Team& team, const Kernels& kernels)
    : options_(std::move(options)),
      max_rows_(max_rows),
      team_(team),
      kernels_(kernels),
      features_stride_(padded_stride(options_.num_features)) {
  features_ = Buffer(max_rows_ * features_stride_);
  for (std::size_t i = 0; i < layers.size(); ++i) layers_.push_back(make_layer(i, layers[i]));
  while (first_trained_ + 1 < layers.size() && !layers[first_trained_].is_trained()) {
    ++first_trained_;
  }
  for (int64_t i = 0; i < team_.num_threads(); ++i) scratch_.emplace_back(kernels.scratch_floats);
}

Network::Layer Network::make_layer(std::size_t index, const LayerMemory& memory) const {
  const std::size_t num_hidden = options_.hidden_sizes.size();
  const bool hidden = index < num_hidden;
  Layer layer;
  layer.memory = memory;
  layer.num_inputs = index == 0 ? options_.num_features : options_.hidden_sizes[index - 1];
  layer.num_outputs = hidden ? options_.hidden_sizes[index] : options_.num_outputs;
  layer.stride = padded_stride(layer.num_outputs);
  const int64_t size = max_rows_ * layer.stride;
  layer.pre = Buffer(size);
  if (!hidden) {
    layer.pre_gradient = layer.pre.get();  // the loss puts it there
    return layer;
  }
  layer.out = Buffer(size);
  if (options_.dropout > 0) layer.noise = Buffer(size);
  const bool is_layer_norm = options_.norm == config::Norm::kLayer;
  layer.inverse_std = Buffer(std::max(max_rows_, layer.num_outputs));
  // A residual needs the gradient of `out` later, the columns of a layer norm that of its output.
  layer.gradients = Buffer((1 + (options_.residual ? 1 : 0) + (is_layer_norm ? 1 : 0)) * size);
  layer.out_gradient = layer.gradients.get();
  layer.normed_gradient = layer.out_gradient + (options_.residual ? size : 0);
  layer.pre_gradient = layer.normed_gradient + (is_layer_norm ? size : 0);
  return layer;
}

// Some `num_parts` tiles, cut between panels first: a product packs its panel of B for all rows.
Network::Division Network::divide(int64_t num_rows, int64_t num_columns, int64_t num_parts) const {
  constexpr int64_t kFewestRows = 32;
  const int64_t num_panels = parts(num_columns, kernels_.panel_columns);
  const int64_t panels_at_once = parts(num_panels, std::min(num_panels, num_parts));
  Division d{.num_rows = num_rows, .num_columns = num_columns};
  d.column_step = panels_at_once * kernels_.panel_columns;
  d.num_column_parts = parts(num_columns, d.column_step);
  const int64_t row_parts = std::clamp<int64_t>(num_parts / d.num_column_parts, 1,
                                                std::max<int64_t>(1, num_rows / kFewestRows));
  d.row_step = parts(num_rows, row_parts);
  d.num_row_parts = parts(num_rows, d.row_step);
  return d;
}

// Tiles small enough to be in a cache when the activation follows; all rows for a batch norm.
Network::Division Network::divide_activations(std::size_t index, int64_t num_rows) const {
  constexpr int64_t kPanelsAtOnce = 2;
  constexpr int64_t kPartsPerThread = 4;
  const int64_t columns = layers_[index].num_outputs;
  const int64_t num_threads = team_.num_threads();
  const int64_t wanted = num_threads == 1 ? parts(columns, kPanelsAtOnce * kernels_.panel_columns)
                                          : kPartsPerThread * num_threads;
  Division d = divide(num_rows, columns, wanted);
  if (options_.norm == config::Norm::kBatch || num_threads == 1) {
    d.row_step = num_rows;
    d.num_row_parts = 1;
  }
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

bool Network::uses_running_statistics(const Layer& layer, Pass pass) const {
  return pass == Pass::kInference || (layer.memory.norm_weight.gradient == nullptr &&
                                      layer.memory.norm_bias.gradient == nullptr);
}

const float* Network::input_of(std::size_t index) const {
  return index == 0 ? features_.get() : layers_[index - 1].out.get();
}

int64_t Network::input_stride(std::size_t index) const {
  return index == 0 ? features_stride_ : layers_[index - 1].stride;
}

ActivationBuffers Network::activation_buffers(std::size_t index, int64_t row, int64_t column,
                                              Pass pass) const {
  const Layer& layer = layers_[index];
  const int64_t at = row * layer.stride + column;
  const bool has_norm = options_.norm != config::Norm::kNone;
  ActivationBuffers b;
  b.pre = layer.pre.get() + at;
  b.scale = has_norm ? layer.memory.norm_weight.value + column : nullptr;
  b.shift = (has_norm ? layer.memory.norm_bias : layer.memory.bias).value + column;
  b.noise = options_.dropout > 0 && pass == Pass::kTraining ? layer.noise.get() + at : nullptr;
  b.skip = options_.residual && index > 0 ? layers_[index - 1].out.get() + at : nullptr;
  b.out = layer.out.get() + at;
  return b;
}

NormBuffers Network::norm_buffers(const Layer& layer, int64_t row, int64_t column) const {
  NormBuffers b;
  b.values = layer.pre.get() + row * layer.stride + column;
  b.bias = layer.memory.bias.value + column;
  b.inverse_std = layer.inverse_std.get();
  if (options_.norm == config::Norm::kLayer) {
    b.inverse_std += row;
  } else {
    b.inverse_std += column;
    b.running_mean = layer.memory.running_mean + column;
    b.running_var = layer.memory.running_var + column;
  }
  return b;
}

void Network::gather(int64_t thread, const GatherSource& source, const int64_t* rows,
                     int64_t num_rows) {
  team_.share(thread, parts(num_rows, kRowsAtOnce), [&](int64_t i) {
    const int64_t row = i * kRowsAtOnce;
    kernels_.gather(
        source, rows + row,
        {std::min(kRowsAtOnce, num_rows - row), options_.num_features, features_stride_},
        features_.get() + row * features_stride_);
  });
}

void Network::make_noise(int64_t thread, uint64_t seed, int64_t first_row, int64_t num_rows) {
  if (options_.dropout == 0) return;
  const int64_t num_blocks = parts(num_rows, kRowsAtOnce);
  const auto num_hidden = static_cast<int64_t>(layers_.size()) - 1;
  team_.share(thread, num_hidden * num_blocks, [&](int64_t i) {
    const Layer& layer = layers_[static_cast<std::size_t>(i / num_blocks)];
    const int64_t row = i % num_blocks * kRowsAtOnce;
    kernels_.make_noise({seed, static_cast<uint32_t>(i / num_blocks), options_.dropout},
                        first_row + row,
                        {std::min(kRowsAtOnce, num_rows - row), layer.num_outputs, layer.stride},
                        layer.noise.get() + row * layer.stride);
  });
}

void Network::forward(int64_t thread, int64_t num_rows, Pass pass) {
  float* scratch = scratch_[static_cast<std::size_t>(thread)].get();
  for (std::size_t index = 0; is_hidden(index); ++index) {
    const Layer& layer = layers_[index];
    const Division tiles = divide_activations(index, num_rows);
    team_.share(thread, tiles.count(), [&](int64_t i) {
      compute_tile(index, part_of(tiles, i, layer.stride), pass, scratch);
    });
    if (options_.norm != config::Norm::kLayer) continue;
    team_.share(thread, parts(num_rows, kRowsAtOnce), [&](int64_t i) {
      const int64_t row = i * kRowsAtOnce;
      finish_rows(
          index, {row, 0, {std::min(kRowsAtOnce, num_rows - row), layer.num_outputs, layer.stride}},
          pass);
    });
  }
}

// The linear part of a layer.
void Network::multiply_tile(std::size_t index, const Part& part, float* scratch) {
  const Layer& layer = layers_[index];
  const Tile& tile = part.tile;
  kernels_.multiply({.num_rows = tile.num_rows,
                     .num_columns = tile.num_columns,
                     .depth = layer.num_inputs,
                     .a = input_of(index) + part.row * input_stride(index),
                     .a_row = input_stride(index),
                     .a_depth = 1,
                     .b = layer.memory.weight.value + part.column * layer.num_inputs,
                     .b_depth = 1,
                     .b_column = layer.num_inputs,
                     .c = layer.pre.get() + part.row * layer.stride + part.column,
                     .c_row = layer.stride,
                     .adds = false},
                    scratch);
}

// A tile of a hidden layer; where a norm needs whole rows, its linear part alone.
void Network::compute_tile(std::size_t index, const Part& part, Pass pass, float* scratch) {
  const Layer& layer = layers_[index];
  const Tile& tile = part.tile;
  multiply_tile(index, part, scratch);
  if (options_.norm == config::Norm::kLayer) return;
  if (options_.norm == config::Norm::kBatch) {
    const NormBuffers norm = norm_buffers(layer, part.row, part.column);
    if (uses_running_statistics(layer, pass)) {
      kernels_.frozen_batch_norm(tile, norm);
    } else {
      kernels_.batch_norm(tile, norm);
    }
  }
  kernels_.activate(options_.activation, tile,
                    activation_buffers(index, part.row, part.column, pass));
}

void Network::finish_rows(std::size_t index, const Part& part, Pass pass) {
  kernels_.layer_norm(part.tile, norm_buffers(layers_[index], part.row, 0));
  kernels_.activate(options_.activation, part.tile, activation_buffers(index, part.row, 0, pass));
}

LossInput Network::compute_outputs(int64_t thread, int64_t first_row, int64_t num_rows) {
  const Layer& layer = layers_.back();
  multiply_tile(layers_.size() - 1, {first_row, 0, {num_rows, layer.num_outputs, layer.stride}},
                scratch_[static_cast<std::size_t>(thread)].get());
  LossInput input;
  input.tile = {num_rows, layer.num_outputs, layer.stride};
  input.outputs = layer.pre.get() + first_row * layer.stride;
  input.bias = layer.memory.bias.value;
  return input;
}

}  // namespace trainer::cpu
