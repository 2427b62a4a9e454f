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

// The gradient with respect to the inputs of a linear layer, from `column` on; see multiply().
void Network::multiply_gradient(const Layer& layer, const Region& region, int64_t column,
                                float* out, int64_t out_stride, Accumulate accumulate,
                                float* scratch) const {
  const int64_t num_members = layer.block.num_members;
  for (int64_t member = 0; member < num_members; ++member) {
    kernels_.multiply({.num_rows = region.tile.num_rows / num_members,
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
                       .accumulate = accumulate},
                      scratch);
  }
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
  multiply_gradient(layer, region, region.column, below.out_gradient + at, below.stride,
                    has_skip ? Accumulate::kYes : Accumulate::kNo, scratch);
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

void Network::parameter_gradients(int64_t thread, int64_t num_batch_rows, Accumulate accumulate) {
  const int64_t num_rows = num_batch_rows * num_members_;
  const auto weight_grid = [&](const Block& block) {
    return block.weight.update == nullptr
               ? TileGrid{}
               : make_grid(block.num_outputs, block.num_inputs, num_rows / block.num_members);
  };
  const auto num_column_tasks = [](const Block& block) {
    return ceil_div(block.num_outputs, kColumnsPerSum);
  };
  int64_t count = 0;
  for (std::size_t index = first_trained_; index < layers_.size(); ++index) {
    const Block& block = layers_[index].block;
    count += block.num_members * (weight_grid(block).num_tiles() + num_column_tasks(block));
  }
  const int64_t num_encoder_tasks = encoder_.num_tasks();
  team_.parallel_for(thread, count + num_encoder_tasks, [&](int64_t i) {
    if (i < num_encoder_tasks) return encoder_.run_task(i, num_batch_rows, accumulate);
    i -= num_encoder_tasks;
    for (std::size_t index = first_trained_;; ++index) {
      const Block& block = layers_[index].block;
      const TileGrid weights = weight_grid(block);
      const int64_t num_tasks = weights.num_tiles() + num_column_tasks(block);  // of a member
      if (i >= block.num_members * num_tasks) {
        i -= block.num_members * num_tasks;
        continue;
      }
      const int64_t member = i / num_tasks;
      i %= num_tasks;
      if (i < weights.num_tiles()) {
        return weight_gradient(index, member, tile_region(weights, i, block.num_inputs), num_rows,
                               accumulate, scratch(thread));
      }
      i -= weights.num_tiles();
      return column_gradients(layers_[index], member, i * kColumnsPerSum, num_rows, accumulate);
    }
  });
}

void Network::encoder_gradient(const Region& region, float* scratch) {
  const int64_t stride = encoder_.gradient_stride();
  multiply_gradient(layers_.front(), region, encoder_.gradient_column() + region.column,
                    encoder_.gradient() + region.row * stride + region.column, stride,
                    Accumulate::kNo, scratch);
  encoder_.unscale_gradient(region);
}

// [out, in] = pre_gradient^T [out, rows] * input [rows, in]
void Network::weight_gradient(std::size_t index, int64_t member, const Region& region,
                              int64_t num_rows, Accumulate accumulate, float* scratch) {
  const Layer& layer = layers_[index];
  const Block& block = layer.block;
  kernels_.multiply(
      {.num_rows = region.tile.num_rows,
       .num_columns = region.tile.num_columns,
       .depth = num_rows / block.num_members,
       .a = layer.pre_gradient + member * layer.stride + region.row,
       .a_row = 1,
       .a_depth = block.num_members * layer.stride,
       .b = layer_input(index) + member * input_stride(index) + region.column,
       .b_depth = block.num_members * input_stride(index),
       .b_column = 1,
       .c = block.weight.update + (member * block.num_outputs + region.row) * block.num_inputs +
            region.column,
       .c_row = block.num_inputs,
       .accumulate = accumulate},
      scratch);
}

// The gradients of some columns of the bias and of a layer norm: sums over the rows.
void Network::column_gradients(const Layer& layer, int64_t member, int64_t column, int64_t num_rows,
                               Accumulate accumulate) const {
  const int64_t num_members = layer.block.num_members;
  const int64_t num_outputs = layer.block.num_outputs;
  const Tile tile{.num_rows = num_rows / num_members,
                  .num_columns = std::min(kColumnsPerSum, num_outputs - column),
                  .stride = num_members * layer.stride};
  if (float* to = layer.block.bias.update; to != nullptr) {
    kernels_.column_sums(tile, layer.pre_gradient + member * layer.stride + column, nullptr, 0,
                         to + member * num_outputs + column, accumulate);
  }
  if (float* to = layer.block.mix.update; to != nullptr) {
    kernels_.column_sums(tile, layer.mix_gradients.get() + column, nullptr, 0, to + column,
                         accumulate);
  }
  if (layer.block.norm != config::Norm::kLayer) return;
  const float* gradient = layer.normed_gradient + column;
  if (float* to = layer.block.norm_weight.update; to != nullptr) {
    kernels_.column_sums(tile, gradient, layer.pre.get() + column, layer.stride, to + column,
                         accumulate);
  }
  if (float* to = layer.block.norm_bias.update; to != nullptr) {
    kernels_.column_sums(tile, gradient, nullptr, 0, to + column, accumulate);
  }
}

}  // namespace trainer::cpu
