// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "trainer/cpu/network.h"
#include "trainer/cpu/parts.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kColumnsAtOnce = 64;  // of sums over the rows

}  // namespace

NormGradientBuffers Network::norm_gradient_buffers(const Layer& layer, const Part& part) const {
  const int64_t at = part.row * layer.stride + part.column;
  const bool is_layer_norm = layer.block.norm == config::Norm::kLayer;
  NormGradientBuffers b;
  b.normalized = layer.pre.get() + at;
  b.scale = layer.block.norm_weight.value + part.column;
  b.inverse_std = layer.inverse_std.get() + (is_layer_norm ? part.row : part.column);
  b.gradient = layer.normed_gradient + at;
  b.out = layer.pre_gradient + at;
  return b;
}

// The gradient of the layer below, from that of its output to that of its linear part.
void Network::input_gradient(std::size_t index, const Part& part, bool adds, float* scratch) {
  const Layer& layer = layers_[index];
  const Layer& below = layers_[index - 1];
  const Tile& tile = part.tile;
  const int64_t at = part.row * below.stride + part.column;
  // out = ... + out of the layer below: its gradient is that of `out`, and more.
  const bool has_skip = layer.block.has_skip;
  if (has_skip) {
    for (int64_t i = 0; i < tile.num_rows; ++i) {
      std::copy_n(layer.out_gradient + at + i * tile.stride, tile.num_columns,
                  below.out_gradient + at + i * tile.stride);
    }
  }
  kernels_.multiply({.num_rows = tile.num_rows,
                     .num_columns = tile.num_columns,
                     .depth = layer.block.num_outputs,
                     .a = layer.pre_gradient + part.row * layer.stride,
                     .a_row = layer.stride,
                     .a_depth = 1,
                     .b = layer.block.weight.value + part.column,
                     .b_depth = layer.block.num_inputs,
                     .b_column = 1,
                     .c = below.out_gradient + at,
                     .c_row = below.stride,
                     .adds = has_skip},
                    scratch);
  ActivationBuffers activation = activation_buffers(index - 1, part, Mode::kTraining);
  activation.out = below.normed_gradient + at;
  kernels_.activation_gradient(below.block.activation, tile, activation, below.out_gradient + at);
  if (below.block.norm == config::Norm::kLayer) {
    kernels_.layer_norm_gradient(tile, norm_gradient_buffers(below, part));
  } else if (below.block.norm == config::Norm::kBatch) {
    batch_norm_gradient(below, part, adds);
  }
}

void Network::batch_norm_gradient(const Layer& layer, const Part& part, bool adds) {
  NormGradientBuffers buffers = norm_gradient_buffers(layer, part);
  if (layer.block.uses_running_statistics(Mode::kTraining)) {
    kernels_.frozen_batch_norm_gradient(part.tile, buffers);
    return;
  }
  const auto at_column = [&](float* gradient) {
    return gradient == nullptr ? nullptr : gradient + part.column;
  };
  buffers.scale_gradient = at_column(layer.block.norm_weight.update);
  buffers.shift_gradient = at_column(layer.block.norm_bias.update);
  buffers.adds = adds;
  kernels_.batch_norm_gradient(part.tile, buffers);
}

void Network::parameter_gradients(int64_t thread, int64_t num_rows, bool adds) {
  const auto weight_parts = [&](const Layer& layer) {
    return layer.block.weight.update == nullptr
               ? Division{}
               : divide(layer.block.num_outputs, layer.block.num_inputs, num_rows);
  };
  int64_t count = 0;
  for (std::size_t index = first_trained_; index < layers_.size(); ++index) {
    count += weight_parts(layers_[index]).count() +
             num_parts(layers_[index].block.num_outputs, kColumnsAtOnce);
  }
  for (const Lookup& lookup : lookups_) count += num_table_parts(lookup);
  team_.share(thread, count, [&](int64_t i) {
    for (const Lookup& lookup : lookups_) {
      if (i < num_table_parts(lookup)) return table_gradient(lookup, i, num_rows, adds);
      i -= num_table_parts(lookup);
    }
    for (std::size_t index = first_trained_;; ++index) {
      const Layer& layer = layers_[index];
      const Division weights = weight_parts(layer);
      const int64_t num_column_parts = num_parts(layer.block.num_outputs, kColumnsAtOnce);
      if (i < weights.count()) {
        return weight_gradient(index, part_of(weights, i, layer.block.num_inputs), num_rows, adds,
                               scratch(thread));
      }
      i -= weights.count();
      if (i < num_column_parts) {
        return column_gradients(layer, i * kColumnsAtOnce, num_rows, adds);
      }
      i -= num_column_parts;
    }
  });
}

// [out, in] = pre_gradient^T [out, rows] * input [rows, in]
void Network::weight_gradient(std::size_t index, const Part& part, int64_t num_rows, bool adds,
                              float* scratch) {
  const Layer& layer = layers_[index];
  kernels_.multiply(
      {.num_rows = part.tile.num_rows,
       .num_columns = part.tile.num_columns,
       .depth = num_rows,
       .a = layer.pre_gradient + part.row,
       .a_row = 1,
       .a_depth = layer.stride,
       .b = input_of(index) + part.column,
       .b_depth = input_stride(index),
       .b_column = 1,
       .c = layer.block.weight.update + part.row * layer.block.num_inputs + part.column,
       .c_row = layer.block.num_inputs,
       .adds = adds},
      scratch);
}

// Sums over the rows: the gradients of some columns of the bias and of a layer norm.
void Network::column_gradients(const Layer& layer, int64_t column, int64_t num_rows,
                               bool adds) const {
  const Tile tile{num_rows, std::min(kColumnsAtOnce, layer.block.num_outputs - column),
                  layer.stride};
  if (float* to = layer.block.bias.update; to != nullptr) {
    kernels_.column_sums(tile, layer.pre_gradient + column, nullptr, to + column, adds);
  }
  if (layer.block.norm != config::Norm::kLayer) return;
  const float* gradient = layer.normed_gradient + column;
  if (float* to = layer.block.norm_weight.update; to != nullptr) {
    kernels_.column_sums(tile, gradient, layer.pre.get() + column, to + column, adds);
  }
  if (float* to = layer.block.norm_bias.update; to != nullptr) {
    kernels_.column_sums(tile, gradient, nullptr, to + column, adds);
  }
}

}  // namespace trainer::cpu
