// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "trainer/cpu/ceil_div.h"
#include "trainer/cpu/network.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kColumnsPerSum = 64;  // columns that a thread sums over the rows together

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

// The gradients of the layer below: from that of its output to that of its linear layer.
void Network::input_gradient(std::size_t index, const Region& region, Accumulate accumulate,
                             float* scratch) {
  const Layer& layer = layers_[index];
  const Layer& below = layers_[index - 1];
  const Tile& tile = region.tile;
  const int64_t at = region.row * below.stride + region.column;
  // out = ... + out of the layer below, whose gradient therefore begins with that of `out`.
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
                     .a = layer.pre_gradient + region.row * layer.stride,
                     .a_row = layer.stride,
                     .a_depth = 1,
                     .b = layer.block.weight.value + region.column,
                     .b_depth = layer.block.num_inputs,
                     .b_column = 1,
                     .c = below.out_gradient + at,
                     .c_row = below.stride,
                     .accumulate = has_skip ? Accumulate::kYes : Accumulate::kNo},
                    scratch);
  ActivationBuffers activation = activation_buffers(index - 1, region, Mode::kTraining);
  activation.out = below.normed_gradient + at;
  if (below.mix_gradients.get() != nullptr) {
    activation.mix_gradients = below.mix_gradients.get() + at;
  }
  kernels_.activation_gradient(below.block.activation, tile, activation, below.out_gradient + at);
  if (below.block.norm == config::Norm::kLayer) {
    kernels_.layer_norm_gradient(tile, norm_gradient_buffers(below, region));
  } else if (below.block.norm == config::Norm::kBatch) {
    batch_norm_gradient(below, region, accumulate);
  }
}

void Network::batch_norm_gradient(const Layer& layer, const Region& region, Accumulate accumulate) {
  NormGradientBuffers buffers = norm_gradient_buffers(layer, region);
  if (layer.block.uses_running_statistics(Mode::kTraining)) {
    kernels_.frozen_batch_norm_gradient(region.tile, buffers);
    return;
  }
  const auto at_column = [&](float* gradient) {
    return gradient == nullptr ? nullptr : gradient + region.column;
  };
  buffers.scale_gradient = at_column(layer.block.norm_weight.update);
  buffers.shift_gradient = at_column(layer.block.norm_bias.update);
  buffers.accumulate = accumulate;
  kernels_.batch_norm_gradient(region.tile, buffers);
}

void Network::parameter_gradients(int64_t thread, int64_t num_rows, Accumulate accumulate) {
  const auto weight_grid = [&](const Layer& layer) {
    return layer.block.weight.update == nullptr
               ? TileGrid{}
               : make_grid(layer.block.num_outputs, layer.block.num_inputs, num_rows);
  };
  int64_t count = 0;
  for (std::size_t index = first_trained_; index < layers_.size(); ++index) {
    count += weight_grid(layers_[index]).num_tiles() +
             ceil_div(layers_[index].block.num_outputs, kColumnsPerSum);
  }
  const int64_t num_encoder_tasks = encoder_.num_tasks();
  team_.parallel_for(thread, count + num_encoder_tasks, [&](int64_t i) {
    if (i < num_encoder_tasks) return encoder_.run_task(i, num_rows, accumulate);
    i -= num_encoder_tasks;
    for (std::size_t index = first_trained_;; ++index) {
      const Layer& layer = layers_[index];
      const TileGrid weights = weight_grid(layer);
      const int64_t grid_columns = ceil_div(layer.block.num_outputs, kColumnsPerSum);
      if (i < weights.num_tiles()) {
        return weight_gradient(index, tile_region(weights, i, layer.block.num_inputs), num_rows,
                               accumulate, scratch(thread));
      }
      i -= weights.num_tiles();
      if (i < grid_columns) {
        return column_gradients(layer, i * kColumnsPerSum, num_rows, accumulate);
      }
      i -= grid_columns;
    }
  });
}

void Network::encoder_gradient(const Region& region, float* scratch) {
  const Layer& layer = layers_.front();
  kernels_.multiply(
      {.num_rows = region.tile.num_rows,
       .num_columns = region.tile.num_columns,
       .depth = layer.block.num_outputs,
       .a = layer.pre_gradient + region.row * layer.stride,
       .a_row = layer.stride,
       .a_depth = 1,
       .b = layer.block.weight.value + encoder_.gradient_column() + region.column,
       .b_depth = layer.block.num_inputs,
       .b_column = 1,
       .c = encoder_.gradient() + region.row * encoder_.gradient_stride() + region.column,
       .c_row = encoder_.gradient_stride(),
       .accumulate = Accumulate::kNo},
      scratch);
}

// [out, in] = pre_gradient^T [out, rows] * input [rows, in]
void Network::weight_gradient(std::size_t index, const Region& region, int64_t num_rows,
                              Accumulate accumulate, float* scratch) {
  const Layer& layer = layers_[index];
  kernels_.multiply(
      {.num_rows = region.tile.num_rows,
       .num_columns = region.tile.num_columns,
       .depth = num_rows,
       .a = layer.pre_gradient + region.row,
       .a_row = 1,
       .a_depth = layer.stride,
       .b = layer_input(index) + region.column,
       .b_depth = input_stride(index),
       .b_column = 1,
       .c = layer.block.weight.update + region.row * layer.block.num_inputs + region.column,
       .c_row = layer.block.num_inputs,
       .accumulate = accumulate},
      scratch);
}

// The gradients of some columns of the bias and of a layer norm: sums over the rows.
void Network::column_gradients(const Layer& layer, int64_t column, int64_t num_rows,
                               Accumulate accumulate) const {
  const Tile tile{.num_rows = num_rows,
                  .num_columns = std::min(kColumnsPerSum, layer.block.num_outputs - column),
                  .stride = layer.stride};
  if (float* to = layer.block.bias.update; to != nullptr) {
    kernels_.column_sums(tile, layer.pre_gradient + column, nullptr, to + column, accumulate);
  }
  if (float* to = layer.block.mix.update; to != nullptr) {
    kernels_.column_sums(tile, layer.mix_gradients.get() + column, nullptr, to + column,
                         accumulate);
  }
  if (layer.block.norm != config::Norm::kLayer) return;
  const float* gradient = layer.normed_gradient + column;
  if (float* to = layer.block.norm_weight.update; to != nullptr) {
    kernels_.column_sums(tile, gradient, layer.pre.get() + column, to + column, accumulate);
  }
  if (float* to = layer.block.norm_bias.update; to != nullptr) {
    kernels_.column_sums(tile, gradient, nullptr, to + column, accumulate);
  }
}

}  // namespace trainer::cpu
