// SPDX-License-Identifier: Apache-2.0
// The products of a layer with its weights. If each thread computes some of the rows, it needs all
// weights, packed: it packs some of them, and reads what others have packed from shared memory
// (SharedPanels).
#include <cstddef>

#include "trainer/nn/cpu/ceil_div.h"
#include "trainer/nn/cpu/network.h"

namespace trainer::cpu {

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
