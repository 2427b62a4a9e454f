// SPDX-License-Identifier: Apache-2.0
#include "torch/model/forward.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <variant>

#include <ATen/ops/baddbmm.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/selu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>

#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/spec/layers.h"
#include "trainer/torch/device/precision.h"
#include "trainer/torch/device/threads.h"

#include "torch/model/activation_checkpointing.h"

namespace trainer::model {
namespace {

/// Returns dropout factors in the shape and type of `hidden`: 0 with the probability of the layer,
/// else 1 / (1 - probability).
at::Tensor dropout_factors(const at::Tensor& hidden, const network::Dropout& dropout,
                           const DropoutNoise& noise, int64_t num_members) {
  if (noise.masks != nullptr) return noise.masks->factors(dropout, hidden.scalar_type());
  const at::Tensor factors = at::empty(hidden.sizes(), at::kFloat);
  cpu::kernels().make_noise(
      {.seed = noise.seed,
       .layer = dropout.stream,
       .probability = dropout.probability * noise.dropout_factor},
      noise.first_row * num_members,
      {.num_rows = hidden.size(0), .num_columns = hidden.size(1), .stride = hidden.size(1)},
      factors.data_ptr<float>());
  return factors.to(hidden.scalar_type());
}

/// Computes the parts of bins that are below x, `[features, batch, bins]`, from x `[features,
/// batch, 1]` and edges `[features, bins + 1]`; the formula is in nn/spec/mlp.h.
at::Tensor parts_of_bins(const at::Tensor& x, const at::Tensor& edges) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const int64_t num_bins = edges.size(1) - 1;
  const at::Tensor left = edges.narrow(1, 0, num_bins);
  const at::Tensor width = edges.narrow(1, 1, num_bins).sub(left);
  const at::Tensor has_width = width.gt(0);
  const at::Tensor inverse = width.reciprocal().masked_fill(has_width.logical_not(), 0);
  at::Tensor low = at::zeros_like(width);
  low.select(1, 0).fill_(-kMost);
  at::Tensor high = has_width.to(at::kFloat);
  const at::Tensor has_next = at::constant_pad_nd(has_width.narrow(1, 1, num_bins - 1), {0, 1});
  high.masked_fill_(has_width.logical_and(has_next.logical_not()), kMost);
  return x.sub(left.unsqueeze(1))
      .mul(inverse.unsqueeze(1))
      .maximum(low.unsqueeze(1))
      .minimum(high.unsqueeze(1));
}

}  // namespace

/// Visits the layers, with one function for each kind of layer.
struct Forward::Layers {
  const Forward& forward;
  RunningStatistics running;
  std::size_t index = 0;               // index of the current layer
  network::TensorPosition position{};  // position of its tensors
  std::vector<at::Tensor> residuals{};

  const at::Tensor& parameter(std::size_t i) const {
    return forward.network_.parameters().parameters[position.parameter + i];
  }
  const at::Tensor& buffer(std::size_t i) const {
    return forward.network_.buffers()[position.buffer + i].tensor;
  }
  const at::Tensor& columns() const { return forward.network_.embedded_columns(index); }
  // Converts to the precision of the products; in fp32 returns `tensor` itself.
  at::Tensor to_compute_dtype(const at::Tensor& tensor) const {
    return tensor.to(device::scalar_type(forward.network_.options().precision));
  }

  at::Tensor operator()(const network::Embeddings& embeddings, const at::Tensor& features) const {
    std::vector<at::Tensor> columns = {features.narrow(1, 0, embeddings.num_numeric)};
    for (std::size_t i = 0; i < embeddings.tables.size(); ++i) {
      const int64_t column = embeddings.num_numeric + static_cast<int64_t>(i);
      columns.push_back(at::embedding(parameter(i), features.select(1, column).to(at::kLong)));
    }
    return at::cat(columns, 1);
  }

  at::Tensor operator()(const network::PeriodicEmbedding&, const at::Tensor& values) const {
    const at::Tensor x =
        values.index_select(1, columns()).t().unsqueeze(2);  // [features, batch, 1]
    const at::Tensor angles =
        x.mul(2 * std::numbers::pi).mul(parameter(0).unsqueeze(1)).add(parameter(1).unsqueeze(1));
    const at::Tensor embedded = at::baddbmm(parameter(3).unsqueeze(1), angles.cos(), parameter(2));
    return at::cat({values, embedded.transpose(0, 1).flatten(1)}, 1);
  }

  at::Tensor operator()(const network::PiecewiseEmbedding&, const at::Tensor& values) const {
    const at::Tensor x =
        values.index_select(1, columns()).t().unsqueeze(2);  // [features, batch, 1]
    const at::Tensor line = x.mul(parameter(0).unsqueeze(1)).add(parameter(2).unsqueeze(1));
    const at::Tensor embedded = at::baddbmm(line, parts_of_bins(x, buffer(0)), parameter(1));
    return at::cat({values, embedded.transpose(0, 1).flatten(1)}, 1);
  }

  at::Tensor operator()(const network::InputScale& scale, const at::Tensor& values) const {
    if (scale.num_members == 1) return values.mul(parameter(0));
    return values.unsqueeze(1).mul(parameter(0)).flatten(0, 1);
  }

  at::Tensor operator()(const network::Linear& linear, const at::Tensor& values) const {
    const at::Tensor inputs = to_compute_dtype(values);
    const at::Tensor weight = to_compute_dtype(parameter(0));
    const at::Tensor bias = to_compute_dtype(parameter(1));
    if (linear.num_members == 1) return at::linear(inputs, weight, bias);
    const at::Tensor by_member =
        inputs.view({-1, linear.num_members, linear.num_inputs}).transpose(0, 1);
    return at::baddbmm(bias.unsqueeze(1), by_member, weight.transpose(1, 2))
        .transpose(0, 1)
        .flatten(0, 1);
  }

  at::Tensor operator()(const network::BatchNorm&, const at::Tensor& values) const {
    const bool is_frozen = !parameter(0).requires_grad() && !parameter(1).requires_grad();
    const bool of_batch = forward.mode_ == Mode::kTraining && !is_frozen;
    const bool has_running = !of_batch || running == RunningStatistics::kUpdate;
    return at::batch_norm(values.to(at::kFloat), parameter(0), parameter(1),
                          has_running ? buffer(0) : at::Tensor(),
                          has_running ? buffer(1) : at::Tensor(), of_batch,
                          network::kBatchNormMomentum, network::kNormEpsilon,
                          /*cudnn_enabled=*/true);
  }

  at::Tensor operator()(const network::LayerNorm& norm, const at::Tensor& values) const {
    return at::layer_norm(values.to(at::kFloat), {norm.size}, parameter(0), parameter(1),
                          network::kNormEpsilon);
  }

  at::Tensor operator()(const network::Activation& activation, const at::Tensor& values) const {
    at::Tensor activated = activate(activation.function, values);
    if (!activation.is_parametric()) return activated;
    return values.add(activated.sub(values).mul(parameter(0)));
  }

  static at::Tensor activate(config::Activation function, const at::Tensor& values) {
    switch (function) {
      case config::Activation::kRelu:
        return at::relu(values);
      case config::Activation::kGelu:
        return at::gelu(values);
      case config::Activation::kSilu:
        return at::silu(values);
      case config::Activation::kTanh:
        return at::tanh(values);
      case config::Activation::kSelu:
        return at::selu(values);
      case config::Activation::kMish:
        // LibTorch 1.13 does not implement mish in bf16 on the CPU.
        return at::mish(values.to(at::kFloat)).to(values.scalar_type());
    }
    return values;
  }

  at::Tensor operator()(const network::Dropout& dropout, const at::Tensor& values) const {
    if (forward.mode_ == Mode::kInference) return values;
    const int64_t num_members = network::num_members(forward.network_.spec());
    return values.mul(dropout_factors(values, dropout, forward.noise_, num_members));
  }

  at::Tensor operator()(const network::MemberMean& members, const at::Tensor& values) const {
    if (forward.mode_ == Mode::kTraining) return values;
    at::Tensor by_member =
        values.to(at::kFloat).view({-1, members.num_members, members.num_outputs});
    if (members.mean == network::Mean::kOfNumbers) return by_member.mean(1);
    const bool has_one_logit = members.num_outputs == 1;
    if (has_one_logit)
      by_member = at::constant_pad_nd(by_member, {1, 0});  // the logit of the first class is 0
    const at::Tensor logs = by_member.log_softmax(2).logsumexp(1).sub(
        std::log(static_cast<double>(members.num_members)));
    return (has_one_logit ? logs.diff() : logs).mul(buffer(0));
  }

  at::Tensor operator()(const network::ResidualBegin&, const at::Tensor& values) {
    residuals.push_back(values);
    return values;
  }

  at::Tensor operator()(const network::ResidualEnd&, const at::Tensor& values) {
    const at::Tensor input = std::move(residuals.back());
    residuals.pop_back();
    return input.add(values);
  }
};

Forward::Forward(const Network& network, Mode mode, const DropoutNoise& noise)
    : network_(network),
      mode_(mode),
      noise_(noise),
      positions_(network::tensor_positions(network.spec())) {}

at::Tensor Forward::run(const at::Tensor& features) const {
  const std::size_t num_layers = network_.spec().layers.size();
  const bool checkpoints = network_.options().activation_checkpointing && mode_ == Mode::kTraining;
  const at::Tensor outputs = checkpoints
                                 ? run_with_checkpoints(*this, network_.spec(), features)
                                 : run_layers(0, num_layers, features, RunningStatistics::kUpdate);
  return outputs.to(at::kFloat);
}

at::Tensor Forward::run_layers(std::size_t begin, std::size_t end, at::Tensor values,
                               RunningStatistics running, const Observer& before) const {
  Layers layers{*this, running};
  const std::vector<network::Layer>& all = network_.spec().layers;
  const auto is_linear = [](const network::Layer& layer) {
    return std::holds_alternative<network::Linear>(layer);
  };
  auto num_linear = static_cast<std::size_t>(
      std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin), is_linear));
  for (std::size_t i = begin; i < end; ++i) {
    if (before) before(i, values);
    layers.index = i;
    layers.position = positions_[i];
    if (is_linear(all[i])) ++num_linear;
    // Recomputed layers belong to the backward pass, which is timed as a whole.
    std::optional<device::TimedDeviceWork> timed;
    if (running == RunningStatistics::kUpdate) {
      timed.emplace(values.device(), Work::kForward, num_linear);
    }
    values = std::visit([&](const auto& layer) { return layers(layer, values); }, all[i]);
  }
  return values;
}

at::Tensor Forward::trained_parameter(std::size_t begin, std::size_t end) const {
  const std::vector<at::Tensor>& parameters = network_.parameters().parameters;
  const std::size_t first = positions_[begin].parameter;
  const std::size_t last = end < positions_.size() ? positions_[end].parameter : parameters.size();
  for (std::size_t i = first; i < last; ++i) {
    if (parameters[i].requires_grad()) return parameters[i];
  }
  return {};
}

}  // namespace trainer::model
