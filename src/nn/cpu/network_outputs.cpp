// SPDX-License-Identifier: Apache-2.0
// The last layer of a network. In training it has the outputs of each member, in inference their
// mean.
#include "trainer/base/time/time_scopes.h"
#include "trainer/base/time/timeline.h"
#include "trainer/nn/cpu/combine.h"
#include "trainer/nn/cpu/network.h"

namespace trainer::cpu {

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

}  // namespace trainer::cpu
