// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "trainer/cpu/network.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kColumnsAtOnce = 64;  // of sums over the rows
constexpr int64_t kRowsAtOnce = 16;

int64_t parts(int64_t size, int64_t step) { return (size + step - 1) / step; }

}  // namespace

void Network::backward(int64_t thread, int64_t num_rows, bool adds) {
  for (std::size_t index = layers_.size(); index-- > first_trained_;) {
    if (options_.norm == config::Norm::kLayer && is_hidden(index)) {
      layer_norm_gradient(thread, index, num_rows, adds);
    }
    backward_layer(thread, index, num_rows, adds);
  }
}

// What follows from a layer's pre_gradient: its parameters' gradients, and that of the layer below.
void Network::backward_layer(int64_t thread, std::size_t index, int64_t num_rows, bool adds) {
  constexpr int64_t kPartsPerThread = 3;
  const Layer& layer = layers_[index];
  float* scratch = scratch_[static_cast<std::size_t>(thread)].get();
  const int64_t num_threads = team_.num_threads();
  const Division inputs =
      index > first_trained_ ? divide_activations(index - 1, num_rows) : Division{};
  const Division weights = layer.memory.weight.gradient == nullptr
                               ? Division{}
                               : divide(layer.num_outputs, layer.num_inputs,
                                        num_threads == 1 ? 1 : kPartsPerThread * num_threads);
  const int64_t num_sums =
      layer.memory.bias.gradient == nullptr ? 0 : parts(layer.num_outputs, kColumnsAtOnce);
  team_.share(thread, inputs.count() + weights.count() + num_sums, [&](int64_t i) {
    if (i < inputs.count()) {
      input_gradient(index, part_of(inputs, i, layers_[index - 1].stride), adds, scratch);
    } else if (i -= inputs.count(); i < weights.count()) {
      weight_gradient(index, part_of(weights, i, layer.num_inputs), num_rows, adds, scratch);
    } else {
      const int64_t column = (i - weights.count()) * kColumnsAtOnce;
      kernels_.column_sums(
          {num_rows, std::min(kColumnsAtOnce, layer.num_outputs - column), layer.stride},
          layer.pre_gradient + column, nullptr, layer.memory.bias.gradient + column, adds);
    }
  });
}

NormGradientBuffers Network::norm_gradient_buffers(const Layer& layer, int64_t row,
                                                   int64_t column) const {
  const int64_t at = row * layer.stride + column;
  NormGradientBuffers b;
  b.normalized = layer.pre.get() + at;
  b.scale = layer.memory.norm_weight.value + column;
  b.inverse_std = layer.inverse_std.get() + (options_.norm == config::Norm::kLayer ? row : column);
  b.gradient = layer.normed_gradient + at;
  b.out = layer.pre_gradient + at;
  return b;
}

// The gradient of the layer below, from that of its output to that of its linear part; a layer
// norm is left for later, as it needs whole rows.
void Network::input_gradient(std::size_t index, const Part& part, bool adds, float* scratch) {
  const Layer& layer = layers_[index];
  const Layer& below = layers_[index - 1];
  const Tile& tile = part.tile;
  const int64_t at = part.row * below.stride + part.column;
  // out = ... + out of the layer below: its gradient is that of `out`, and more.
  const bool has_skip = options_.residual && is_hidden(index);
  if (has_skip) {
    for (int64_t i = 0; i < tile.num_rows; ++i) {
      std::copy_n(layer.out_gradient + at + i * tile.stride, tile.num_columns,
                  below.out_gradient + at + i * tile.stride);
    }
  }
  kernels_.multiply({.num_rows = tile.num_rows,
                     .num_columns = tile.num_columns,
                     .depth = layer.num_outputs,
                     .a = layer.pre_gradient + part.row * layer.stride,
                     .a_row = layer.stride,
                     .a_depth = 1,
                     .b = layer.memory.weight.value + part.column,
                     .b_depth = layer.num_inputs,
                     .b_column = 1,
                     .c = below.out_gradient + at,
                     .c_row = below.stride,
                     .adds = has_skip},
                    scratch);
  ActivationBuffers activation =
      activation_buffers(index - 1, part.row, part.column, Pass::kTraining);
  activation.out = below.normed_gradient + at;
  kernels_.activation_gradient(options_.activation, tile, activation, below.out_gradient + at);
  if (options_.norm != config::Norm::kBatch) return;
  NormGradientBuffers norm = norm_gradient_buffers(below, part.row, part.column);
  if (uses_running_statistics(below, Pass::kTraining)) {
    kernels_.frozen_batch_norm_gradient(tile, norm);
    return;
  }
  const auto at_column = [&](float* gradient) {
    return gradient == nullptr ? nullptr : gradient + part.column;
  };
  norm.scale_gradient = at_column(below.memory.norm_weight.gradient);
  norm.shift_gradient = at_column(below.memory.norm_bias.gradient);
  norm.adds = adds;
  kernels_.batch_norm_gradient(tile, norm);
}

// [out, in] = pre_gradient^T [out, rows] * input [rows, in]
void Network::weight_gradient(std::size_t index, const Part& part, int64_t num_rows, bool adds,
                              float* scratch) {
  const Layer& layer = layers_[index];
  kernels_.multiply({.num_rows = part.tile.num_rows,
                     .num_columns = part.tile.num_columns,
                     .depth = num_rows,
                     .a = layer.pre_gradient + part.row,
                     .a_row = 1,
                     .a_depth = layer.stride,
                     .b = input_of(index) + part.column,
                     .b_depth = input_stride(index),
                     .b_column = 1,
                     .c = layer.memory.weight.gradient + part.row * layer.num_inputs + part.column,
                     .c_row = layer.num_inputs,
                     .adds = adds},
                    scratch);
}

void Network::layer_norm_gradient(int64_t thread, std::size_t index, int64_t num_rows, bool adds) {
  const Layer& layer = layers_[index];
  const int64_t num_row_blocks = parts(num_rows, kRowsAtOnce);
  const int64_t num_column_blocks = parts(layer.num_outputs, kColumnsAtOnce);
  team_.share(thread, num_row_blocks + num_column_blocks, [&](int64_t i) {
    if (i < num_row_blocks) {
      const int64_t row = i * kRowsAtOnce;
      kernels_.layer_norm_gradient(
          {std::min(kRowsAtOnce, num_rows - row), layer.num_outputs, layer.stride},
          norm_gradient_buffers(layer, row, 0));
      return;
    }
    const int64_t column = (i - num_row_blocks) * kColumnsAtOnce;
    const Tile tile{num_rows, std::min(kColumnsAtOnce, layer.num_outputs - column), layer.stride};
    const float* gradient = layer.normed_gradient + column;
    if (float* to = layer.memory.norm_weight.gradient; to != nullptr) {
      kernels_.column_sums(tile, gradient, layer.pre.get() + column, to + column, adds);
    }
    if (float* to = layer.memory.norm_bias.gradient; to != nullptr) {
      kernels_.column_sums(tile, gradient, nullptr, to + column, adds);
    }
  });
}

}  // namespace trainer::cpu
