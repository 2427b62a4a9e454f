// SPDX-License-Identifier: Apache-2.0
// The kernels compute gradients of parameters, not of inputs. So the inputs become a parameter: an
// embedding table whose row r is the input of row r, in front of the layers of the network. Only
// this table is trained, so its gradient is all that a backward pass computes. All else is as in
// inference: dropout is left out, and a batch norm whose parameters are not trained uses its
// running statistics.
#include "trainer/apply/encoded_network.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <variant>

#include "trainer/nn/cpu/combine.h"
#include "trainer/nn/cpu/input_encoder.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/losses.h"
#include "trainer/nn/cpu/row_sums.h"
#include "trainer/table/schema/scaling.h"

#include "apply/encoded_network.h"

namespace trainer::apply {
namespace {

bool is_encoder(const network::Layer& layer) {
  return std::holds_alternative<network::Embeddings>(layer) ||
         std::holds_alternative<network::PeriodicEmbedding>(layer) ||
         std::holds_alternative<network::PiecewiseEmbedding>(layer);
}

/// The layers of `network` without encoders and dropout, with a table of `num_rows` inputs in
/// front.
network::NetworkSpec make_tail(const network::NetworkSpec& network, int64_t num_rows) {
  network::NetworkSpec tail{.num_features = 1, .num_outputs = network.num_outputs, .layers = {}};
  const int64_t width = network::widths(network).front();
  tail.layers.emplace_back(
      network::Embeddings{.num_numeric = 0, .tables = {{"inputs", num_rows, width, {}}}});
  for (const network::Layer& layer : network.layers) {
    if (is_encoder(layer) || std::holds_alternative<network::Dropout>(layer)) continue;
    tail.layers.push_back(layer);
  }
  return tail;
}

}  // namespace

EncodedNetwork::EncodedNetwork(const Member& member, const data::Scaling& scaling, int64_t max_rows,
                               cpu::ThreadTeam& team)
    : member_(member),
      scaling_(scaling),
      team_(team),
      width_(network::widths(member.network).front()),
      inputs_(static_cast<std::size_t>(max_rows * width_)),
      gradients_(inputs_.size()),
      row_numbers_(static_cast<std::size_t>(max_rows)),
      rows_(static_cast<std::size_t>(max_rows)) {
  std::iota(rows_.begin(), rows_.end(), int64_t{0});
  std::copy(rows_.begin(), rows_.end(), row_numbers_.begin());
  if (const auto* mean = std::get_if<network::MemberMean>(&member.network.layers.back())) {
    mean_ = *mean;
    const std::vector<network::TensorSpec> scale = network::buffers(member.network.layers.back());
    if (!scale.empty()) output_scale_ = weight_values(member, scale.front().name).front();
  }
  const network::NetworkSpec tail = make_tail(member.network, max_rows);
  network_ = std::make_unique<cpu::Network>(tail, tail_memory(tail), max_rows, /*max_shards=*/1,
                                            team, cpu::kernels());
}

// The memory of the tensors of the tail. The first one is the table: it lies in inputs_ and is the
// only one with a gradient.
std::vector<cpu::TensorMemory> EncodedNetwork::tail_memory(const network::NetworkSpec& tail) {
  std::vector<cpu::TensorMemory> tensors = {{.value = inputs_.data(), .update = gradients_.data()}};
  const std::vector<network::TensorSpec> specs = network::tensors(tail);
  for (std::size_t i = 1; i < specs.size(); ++i) {
    tensors.push_back({.value = weight_values(member_, specs[i].name).data(), .update = nullptr});
  }
  return tensors;
}

std::vector<int64_t> EncodedNetwork::features() const {
  const network::NetworkSpec& network = member_.network;
  std::vector<int64_t> features(static_cast<std::size_t>(network.num_features));
  std::iota(features.begin(), features.end(), int64_t{0});
  const auto append = [&](const auto& embedding) {
    for (const int64_t feature : embedding.features) {
      features.insert(features.end(), static_cast<std::size_t>(embedding.size), feature);
    }
  };
  for (const network::Layer& layer : network.layers) {
    if (const auto* embeddings = std::get_if<network::Embeddings>(&layer)) {
      features.resize(static_cast<std::size_t>(embeddings->num_numeric));
      for (std::size_t i = 0; i < embeddings->tables.size(); ++i) {
        features.insert(features.end(), static_cast<std::size_t>(embeddings->tables[i].size),
                        embeddings->num_numeric + static_cast<int64_t>(i));
      }
    }
    if (const auto* periodic = std::get_if<network::PeriodicEmbedding>(&layer)) append(*periodic);
    if (const auto* bins = std::get_if<network::PiecewiseEmbedding>(&layer)) append(*bins);
  }
  return features;
}

// Leaves out the input scale of members, which belongs to the layers of the tail.
std::vector<float> EncodedNetwork::encode(const data::Matrix& features) const {
  cpu::Blocks blocks = cpu::make_blocks(member_.network, tensor_memory(member_));
  blocks.input_scale = {};
  blocks.num_members = 1;
  cpu::InputEncoder encoder(blocks, member_.network.num_features, width_, features.num_rows,
                            cpu::kernels());
  std::vector<int64_t> rows(static_cast<std::size_t>(features.num_rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  encoder.encode(gather_source(features, scaling_), rows.data(), 0, features.num_rows);
  std::vector<float> inputs;
  for (int64_t row = 0; row < features.num_rows; ++row) {
    const float* values = encoder.values() + row * encoder.stride();
    inputs.insert(inputs.end(), values, values + width_);
  }
  return inputs;
}

std::span<float> EncodedNetwork::inputs(int64_t num_rows) {
  return std::span(inputs_).first(static_cast<std::size_t>(num_rows * width_));
}

cpu::NetworkBatch EncodedNetwork::batch(int64_t num_rows) const {
  static constexpr float kZero = 0;
  static constexpr float kOne = 1;
  cpu::NetworkBatch batch;
  batch.source = {
      .floats = row_numbers_.data(), .num_features = 1, .shift = &kZero, .scale = &kOne};
  batch.rows = rows_.data();
  batch.num_rows = num_rows;
  return batch;
}

void EncodedNetwork::infer(int64_t num_rows, std::vector<float>& outputs) {
  const int64_t num_outputs = member_.network.num_outputs;
  outputs.resize(static_cast<std::size_t>(num_rows * num_outputs));
  const auto keep = [&](int64_t first_row, const cpu::LossInput& input) {
    cpu::copy_outputs(input, outputs.data() + first_row * num_outputs);
  };
  team_.run([&](int64_t thread) { network_->infer(thread, batch(num_rows), keep, [] {}); });
}

// Writes the gradient with respect to the outputs of a tile of rows; `factors` are those of the
// first and the following rows of the tile.
void EncodedNetwork::set_output_gradient(const cpu::LossInput& input, const float* factors) const {
  const cpu::Tile& tile = input.tile;
  if (mean_) {
    const int64_t num_rows = tile.num_rows / mean_->num_members;
    std::vector<float> scaled(factors, factors + num_rows * tile.num_columns);
    for (float& factor : scaled) factor *= output_scale_;
    cpu::combine_gradient(mean_->mean,
                          {.values = input.outputs,
                           .num_members = mean_->num_members,
                           .member_stride = tile.stride,
                           .num_rows = num_rows,
                           .row_stride = mean_->num_members * tile.stride,
                           .num_columns = tile.num_columns},
                          scaled.data(), input.outputs);
    return;
  }
  for (int64_t row = 0; row < tile.num_rows; ++row, factors += tile.num_columns) {
    std::copy_n(factors, tile.num_columns, input.outputs + row * tile.stride);
  }
}

std::span<const float> EncodedNetwork::gradient(int64_t num_rows, std::span<const float> factors) {
  const cpu::RowSums sums = cpu::sums_of_one_shard(num_rows);
  const auto set = [&](int64_t first_row, const cpu::LossInput& input) {
    set_output_gradient(input, factors.data() + first_row * member_.network.num_outputs);
  };
  team_.run([&](int64_t thread) {
    network_->train(thread, batch(num_rows), sums, set, [] {});
    network_->parameter_gradients(thread, sums);
  });
  return std::span<const float>(gradients_).first(static_cast<std::size_t>(num_rows * width_));
}

std::vector<cpu::TensorMemory> tensor_memory(const Member& member) {
  std::vector<cpu::TensorMemory> tensors;
  tensors.reserve(member.weights.size());
  for (const checkpoint::NamedTensor& weight : member.weights) {
    tensors.push_back({.value = float_values(weight.tensor), .update = nullptr});
  }
  return tensors;
}

cpu::GatherSource gather_source(const data::Matrix& features, const data::Scaling& scaling) {
  cpu::GatherSource source;
  if (const auto* bytes = std::get_if<Array<uint8_t>>(&features.values)) {
    source.bytes = bytes->data();
  } else {
    source.floats = std::get<Array<float>>(features.values).data();
  }
  source.num_features = features.num_columns;
  source.shift = scaling.shift.data();
  source.scale = scaling.scale.data();
  if (!scaling.inverse_limit.empty()) source.inverse_limit = scaling.inverse_limit.data();
  return source;
}

}  // namespace trainer::apply
