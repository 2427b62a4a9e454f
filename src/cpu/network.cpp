// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/network.h"

#include <algorithm>
#include <utility>

#include "trainer/cpu/parts.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kPanelsAtOnce = 8;  // what an activation then finds in the second level cache
constexpr int64_t kFewestRowsAtOnce = 16;

}  // namespace

Network::Network(const NetworkOptions& options, const NetworkMemory& memory, int64_t max_rows,
                 Team& team, const Kernels& kernels)
    : options_(options),
      max_rows_(max_rows),
      team_(team),
      kernels_(kernels),
      features_stride_(padded_stride(options_.num_inputs())) {
  features_ = Buffer(max_rows_ * features_stride_);
  make_tables(memory.embeddings);
  const std::vector<LayerMemory>& layers = memory.layers;
  for (std::size_t i = 0; i < layers.size(); ++i) layers_.push_back(make_layer(i, layers[i]));
  while (!trains_tables() && first_trained_ + 1 < layers.size() &&
         !layers[first_trained_].is_trained()) {
    ++first_trained_;
  }
  for (int64_t i = 0; i < team_.num_threads(); ++i) scratch_.emplace_back(kernels.scratch_floats);
}

Network::Layer Network::make_layer(std::size_t index, const LayerMemory& memory) const {
  const std::size_t num_hidden = options_.hidden_sizes.size();
  const bool hidden = index < num_hidden;
  Layer layer;
  layer.memory = memory;
  layer.num_inputs = index == 0 ? options_.num_inputs() : options_.hidden_sizes[index - 1];
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

ActivationBuffers Network::activation_buffers(std::size_t index, const Part& part,
                                              Pass pass) const {
  const Layer& layer = layers_[index];
  const int64_t at = part.row * layer.stride + part.column;
  const bool has_norm = options_.norm != config::Norm::kNone;
  ActivationBuffers b;
  b.pre = layer.pre.get() + at;
  b.scale = has_norm ? layer.memory.norm_weight.value + part.column : nullptr;
  b.shift = (has_norm ? layer.memory.norm_bias : layer.memory.bias).value + part.column;
  b.noise = options_.dropout > 0 && pass == Pass::kTraining ? layer.noise.get() + at : nullptr;
  b.skip = options_.residual && index > 0 ? layers_[index - 1].out.get() + at : nullptr;
  b.out = layer.out.get() + at;
  return b;
}

NormBuffers Network::norm_buffers(const Layer& layer, const Part& part) const {
  NormBuffers b;
  b.values = layer.pre.get() + part.row * layer.stride + part.column;
  b.bias = layer.memory.bias.value + part.column;
  b.inverse_std = layer.inverse_std.get();
  if (options_.norm == config::Norm::kLayer) {
    b.inverse_std += part.row;
  } else {
    b.inverse_std += part.column;
    b.running_mean = layer.memory.running_mean + part.column;
    b.running_var = layer.memory.running_var + part.column;
  }
  return b;
}

// A batch norm needs all rows of a column, a layer norm all columns of a row.
bool Network::goes_by_rows(int64_t num_rows) const {
  if (options_.norm == config::Norm::kNone) {
    return num_rows >= kFewestRowsAtOnce * team_.num_threads();
  }
  return options_.norm == config::Norm::kLayer;
}

void Network::pass(int64_t thread, const NetworkBatch& batch, Pass pass, bool adds, Loss loss,
                   FunctionRef<void()> last) {
  if (goes_by_rows(batch.num_rows)) {
    pass_by_rows(thread, batch, pass, loss, last);
  } else {
    pass_by_columns(thread, batch, pass, adds, loss, last);
  }
}

// The batch's features, and the noise of all layers.
void Network::fill_rows(const NetworkBatch& batch, int64_t row, int64_t num_rows, Pass pass) {
  kernels_.gather(batch.source, batch.rows + row,
                  {num_rows, options_.num_features, features_stride_},
                  features_.get() + row * features_stride_);
  look_up(row, num_rows);
  if (options_.dropout == 0 || pass == Pass::kInference) return;
  for (std::size_t index = 0; is_hidden(index); ++index) {
    const Layer& layer = layers_[index];
    kernels_.make_noise({batch.dropout_seed, static_cast<uint32_t>(index), options_.dropout},
                        batch.first_row + row, {num_rows, layer.num_outputs, layer.stride},
                        layer.noise.get() + row * layer.stride);
  }
}

// Calls body(part) for rows [row, row + num_rows) of the layer, a few columns at a time unless a
// norm needs them all.
template <class Body>
void Network::for_each_column_part(std::size_t index, int64_t row, int64_t num_rows,
                                   const Body& body) {
  const Layer& layer = layers_[index];
  const int64_t step = options_.norm == config::Norm::kLayer
                           ? layer.num_outputs
                           : kPanelsAtOnce * kernels_.panel_columns;
  for (int64_t column = 0; column < layer.num_outputs; column += step) {
    body(Part{row, column, {num_rows, std::min(step, layer.num_outputs - column), layer.stride}});
  }
}

// Each thread takes rows all the way there and back: nobody waits within the network.
void Network::pass_by_rows(int64_t thread, const NetworkBatch& batch, Pass pass, Loss loss,
                           FunctionRef<void()> last) {
  const int64_t step = std::clamp(num_parts(batch.num_rows, team_.num_threads()), kFewestRowsAtOnce,
                                  kMostRowsAtOnce);
  const auto one_part = [&](int64_t i) {
    const int64_t row = i * step;
    const int64_t num_rows = std::min(step, batch.num_rows - row);
    fill_rows(batch, row, num_rows, pass);
    for (std::size_t index = 0; is_hidden(index); ++index) {
      for_each_column_part(index, row, num_rows,
                           [&](const Part& part) { compute(index, part, pass, scratch(thread)); });
    }
    loss(row, compute_outputs(row, num_rows, scratch(thread)));
    if (pass == Pass::kInference) return;
    for (std::size_t index = layers_.size() - 1; index > first_trained_; --index) {
      for_each_column_part(index - 1, row, num_rows, [&](const Part& part) {
        input_gradient(index, part, /*adds=*/false, scratch(thread));
      });
    }
    if (trains_tables()) {
      embedded_gradient({row, 0, {num_rows, options_.num_embedded(), embedded_stride_}},
                        scratch(thread));
    }
  };
  team_.share(thread, num_parts(batch.num_rows, step), one_part, last);
}

// All threads work on one layer at a time.
void Network::pass_by_columns(int64_t thread, const NetworkBatch& batch, Pass pass, bool adds,
                              Loss loss, FunctionRef<void()> last) {
  const int64_t step = kFewestRowsAtOnce;
  const int64_t num_blocks = num_parts(batch.num_rows, step);
  const auto rows_of = [&](int64_t i) { return std::min(step, batch.num_rows - i * step); };
  // Whole columns for a batch norm.
  const auto tiles_of = [&](std::size_t index) {
    Division d = divide(batch.num_rows, layers_[index].num_outputs, layers_[index].num_inputs);
    if (options_.norm == config::Norm::kBatch) d.row_step = batch.num_rows;
    d.num_row_parts = num_parts(batch.num_rows, d.row_step);
    return d;
  };
  team_.share(thread, num_blocks, [&](int64_t i) { fill_rows(batch, i * step, rows_of(i), pass); });
  for (std::size_t index = 0; is_hidden(index); ++index) {
    const Division tiles = tiles_of(index);
    team_.share(thread, tiles.count(), [&](int64_t i) {
      compute(index, part_of(tiles, i, layers_[index].stride), pass, scratch(thread));
    });
  }
  const auto one_block = [&](int64_t i) {
    loss(i * step, compute_outputs(i * step, rows_of(i), scratch(thread)));
  };
  team_.share(thread, num_blocks, one_block, last);
  if (pass == Pass::kInference) return;
  for (std::size_t index = layers_.size() - 1; index > first_trained_; --index) {
    const Division tiles = tiles_of(index - 1);
    team_.share(thread, tiles.count(), [&](int64_t i) {
      input_gradient(index, part_of(tiles, i, layers_[index - 1].stride), adds, scratch(thread));
    });
  }
  if (!trains_tables()) return;
  const Division tiles =
      divide(batch.num_rows, options_.num_embedded(), layers_.front().num_outputs);
  team_.share(thread, tiles.count(), [&](int64_t i) {
    embedded_gradient(part_of(tiles, i, embedded_stride_), scratch(thread));
  });
}

// The linear part of a layer.
void Network::multiply(std::size_t index, const Part& part, float* scratch) {
  const Layer& layer = layers_[index];
  kernels_.multiply({.num_rows = part.tile.num_rows,
                     .num_columns = part.tile.num_columns,
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

// A hidden layer.
void Network::compute(std::size_t index, const Part& part, Pass pass, float* scratch) {
  const Layer& layer = layers_[index];
  multiply(index, part, scratch);
  if (options_.norm == config::Norm::kLayer) {
    kernels_.layer_norm(part.tile, norm_buffers(layer, part));
  } else if (options_.norm == config::Norm::kBatch) {
    if (uses_running_statistics(layer, pass)) {
      kernels_.frozen_batch_norm(part.tile, norm_buffers(layer, part));
    } else {
      kernels_.batch_norm(part.tile, norm_buffers(layer, part));
    }
  }
  kernels_.activate(options_.activation, part.tile, activation_buffers(index, part, pass));
}

LossInput Network::compute_outputs(int64_t row, int64_t num_rows, float* scratch) {
  const Layer& layer = layers_.back();
  LossInput input;
  input.tile = {num_rows, layer.num_outputs, layer.stride};
  input.outputs = layer.pre.get() + row * layer.stride;
  input.bias = layer.memory.bias.value;
  multiply(layers_.size() - 1, {row, 0, input.tile}, scratch);
  return input;
}

}  // namespace trainer::cpu
