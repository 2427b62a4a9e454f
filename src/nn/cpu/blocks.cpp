// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/blocks.h"

#include <cstddef>
#include <variant>

#include <fmt/format.h>

#include "trainer/base/error.h"

namespace trainer::cpu {
namespace {

/// Consumes the layers of a network in their order, and their tensors.
class BlockBuilder {
 public:
  BlockBuilder(const network::NetworkSpec& network, std::span<const TensorMemory> tensors)
      : network_(network),
        next_parameter_(tensors.begin()),
        next_buffer_(tensors.end() - std::ssize(network::buffers(network))) {}

  Blocks build() && {
    if (const auto* embeddings = take<network::Embeddings>()) add_tables(*embeddings);
    if (const auto* periodic = take<network::PeriodicEmbedding>()) add_periodic(*periodic);
    if (const auto* piecewise = take<network::PiecewiseEmbedding>()) add_piecewise(*piecewise);
    if (take<network::InputScale>() != nullptr) blocks_.input_scale = *next_parameter_++;
    while (!ends()) add_block();
    if (const auto* members = take<network::MemberMean>()) add_mean(*members);
    return std::move(blocks_);
  }

 private:
  bool is_done() const { return next_ == network_.layers.size(); }
  // Whether the output layer has been read: no layers are left, or only the mean over members.
  bool ends() const {
    return is_done() || std::holds_alternative<network::MemberMean>(network_.layers[next_]);
  }

  // Consumes and returns the next layer if it is of this kind, else returns null.
  template <class Kind>
  const Kind* take() {
    if (is_done()) return nullptr;
    const auto* layer = std::get_if<Kind>(&network_.layers[next_]);
    if (layer != nullptr) ++next_;
    return layer;
  }

  template <class Kind>
  const Kind& require(const char* what) {
    if (const Kind* layer = take<Kind>()) return *layer;
    throw Error(ErrorKind::kUsage,
                fmt::format("the CPU kernels expect {} as layer {} of this network; set "
                            "training.step: autograd",
                            what, next_));
  }

  void add_tables(const network::Embeddings& embeddings) {
    for (const network::EmbeddingTable& table : embeddings.tables) {
      blocks_.tables.push_back({*next_parameter_++, table.num_rows, table.size});
    }
  }

  void add_periodic(const network::PeriodicEmbedding& periodic) {
    Periodic p;
    p.num_frequencies = periodic.num_frequencies;
    p.frequencies = *next_parameter_++;
    p.phases = *next_parameter_++;
    p.weight = *next_parameter_++;
    p.bias = *next_parameter_++;
    blocks_.numeric = {.features = periodic.features, .size = periodic.size, .kind = p};
  }

  void add_piecewise(const network::PiecewiseEmbedding& piecewise) {
    Piecewise p;
    p.num_bins = piecewise.num_bins;
    p.slope = *next_parameter_++;
    p.weight = *next_parameter_++;
    p.bias = *next_parameter_++;
    p.edges = *next_buffer_++;
    blocks_.numeric = {.features = piecewise.features, .size = piecewise.size, .kind = p};
  }

  void add_block() {
    Block& block = blocks_.blocks.emplace_back();
    block.has_skip = take<network::ResidualBegin>() != nullptr;
    const auto& linear = require<network::Linear>("a linear layer");
    block.num_inputs = linear.num_inputs;
    block.num_outputs = linear.num_outputs;
    block.num_members = linear.num_members;
    block.weight = *next_parameter_++;
    block.bias = *next_parameter_++;
    if (ends()) return;  // the output layer
    add_norm(block);
    const auto& activation = require<network::Activation>("an activation");
    block.activation = activation.function;
    if (activation.is_parametric()) block.mix = *next_parameter_++;
    if (const auto* dropout = take<network::Dropout>()) {
      block.dropout = dropout->probability;
      block.dropout_stream = dropout->stream;
    }
    if (block.has_skip) require<network::ResidualEnd>("the end of a residual");
  }

  void add_mean(const network::MemberMean& members) {
    blocks_.num_members = members.num_members;
    blocks_.mean = members.mean;
    if (members.mean == network::Mean::kOfProbabilities) blocks_.output_scale = *next_buffer_++;
  }

  void add_norm(Block& block) {
    if (take<network::BatchNorm>() != nullptr) {
      block.norm = config::Norm::kBatch;
      block.running_mean = *next_buffer_++;
      block.running_var = *next_buffer_++;
    } else if (take<network::LayerNorm>() != nullptr) {
      block.norm = config::Norm::kLayer;
    } else {
      return;
    }
    block.norm_weight = *next_parameter_++;
    block.norm_bias = *next_parameter_++;
  }

  const network::NetworkSpec& network_;
  std::size_t next_ = 0;
  std::span<const TensorMemory>::iterator next_parameter_;
  std::span<const TensorMemory>::iterator next_buffer_;
  Blocks blocks_;
};

}  // namespace

bool Block::is_trained() const {
  return weight.update != nullptr || bias.update != nullptr || norm_weight.update != nullptr ||
         norm_bias.update != nullptr || mix.update != nullptr;
}

bool Block::uses_running_statistics(network::Mode mode) const {
  return mode == network::Mode::kInference ||
         (norm_weight.update == nullptr && norm_bias.update == nullptr);
}

Blocks make_blocks(const network::NetworkSpec& network, std::span<const TensorMemory> tensors) {
  return BlockBuilder(network, tensors).build();
}

}  // namespace trainer::cpu
