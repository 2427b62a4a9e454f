// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/mlp.h"

#include <numeric>
#include <utility>

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "trainer/core/text.h"
#include "trainer/cpu/kernels.h"
#include "trainer/device/precision.h"
#include "trainer/device/random.h"

#include "model/layers.h"

namespace trainer::model {
namespace {

std::vector<ParameterSpec> parameter_specs(const MlpOptions& options) {
  std::vector<ParameterSpec> specs;
  for (const cpu::Embedding& embedding : options.embeddings) {
    specs.push_back({fmt::format("embeddings.{}.weight", specs.size()),
                     {embedding.num_rows, embedding.size},
                     Decay::kNo});
  }
  int64_t width = options.num_inputs();
  for (std::size_t i = 0; i <= options.hidden_sizes.size(); ++i) {
    const bool is_output = i == options.hidden_sizes.size();
    const int64_t out = is_output ? options.num_outputs : options.hidden_sizes[i];
    specs.push_back({fmt::format("layers.{}.weight", i), {out, width}, Decay::kYes});
    specs.push_back({fmt::format("layers.{}.bias", i), {out}, Decay::kNo});
    if (!is_output && options.norm != config::Norm::kNone) {
      specs.push_back({fmt::format("norms.{}.weight", i), {out}, Decay::kNo});
      specs.push_back({fmt::format("norms.{}.bias", i), {out}, Decay::kNo});
    }
    width = out;
  }
  for (ParameterSpec& spec : specs) {
    if (matches_any(spec.name, options.freeze)) spec.trained = Trained::kNo;
  }
  return specs;
}

// Mean 0 and variance 1 of every normalised feature: the means of a layer, then its variances.
at::Tensor make_buffer_values(const MlpOptions& options, c10::Device device) {
  if (options.norm != config::Norm::kBatch) return {};
  const int64_t num_normalized =
      std::accumulate(options.hidden_sizes.begin(), options.hidden_sizes.end(), int64_t{0});
  return at::zeros({2 * num_normalized}, at::TensorOptions().dtype(at::kFloat).device(device));
}

std::vector<NamedTensor> make_buffers(const MlpOptions& options, const at::Tensor& values) {
  std::vector<NamedTensor> buffers;
  if (!values.defined()) return buffers;
  int64_t begin = 0;
  for (std::size_t i = 0; i < options.hidden_sizes.size(); ++i) {
    const int64_t width = options.hidden_sizes[i];
    buffers.push_back({fmt::format("norms.{}.running_mean", i), values.narrow(0, begin, width)});
    buffers.push_back(
        {fmt::format("norms.{}.running_var", i), values.narrow(0, begin + width, width)});
    buffers.back().tensor.fill_(1);
    begin += 2 * width;
  }
  return buffers;
}

}  // namespace

at::Tensor lowered(const at::Tensor& tensor, const MlpOptions& options) {
  return tensor.to(device::dtype_of(options.precision));
}

std::size_t first_parameter(const MlpOptions& options, std::size_t layer) {
  return options.embeddings.size() + layer * (options.norm == config::Norm::kNone ? 2 : 4);
}

at::Tensor activate(const at::Tensor& hidden, config::Activation activation) {
  switch (activation) {
    case config::Activation::kRelu:
      return at::relu(hidden);
    case config::Activation::kGelu:
      return at::gelu(hidden);
    case config::Activation::kSilu:
      return at::silu(hidden);
    case config::Activation::kTanh:
      return at::tanh(hidden);
  }
  return hidden;
}

at::Tensor dropout_factors(const at::Tensor& hidden, double probability, std::size_t layer,
                           const DropoutNoise& noise) {
  at::Tensor factors = at::empty(hidden.sizes(), hidden.options().dtype(at::kFloat));
  if (!hidden.is_cpu()) {
    device::seed_generators(noise.seed ^ (static_cast<uint64_t>(layer) << 56U) ^
                            (static_cast<uint64_t>(noise.first_row) << 24U));
    factors.bernoulli_(1 - probability).div_(1 - probability);
    return factors.to(hidden.scalar_type());
  }
  cpu::kernels().make_noise({noise.seed, static_cast<uint32_t>(layer), probability},
                            noise.first_row, {hidden.size(0), hidden.size(1), hidden.size(1)},
                            factors.data_ptr<float>());
  return factors.to(hidden.scalar_type());
}

at::Tensor rows_of_table(const at::Tensor& features, const MlpOptions& options, std::size_t table) {
  return features.select(1, options.num_plain() + static_cast<int64_t>(table)).to(at::kLong);
}

at::Tensor with_embeddings(const at::Tensor& features, const MlpOptions& options,
                           const std::vector<at::Tensor>& parameters) {
  if (options.embeddings.empty()) return features;
  std::vector<at::Tensor> parts = {features.narrow(1, 0, options.num_plain())};
  for (std::size_t i = 0; i < options.embeddings.size(); ++i) {
    parts.push_back(at::embedding(parameters[i], rows_of_table(features, options, i)));
  }
  return at::cat(parts, 1);
}

Mlp::Mlp(MlpOptions options, c10::Device device)
    : options_(std::move(options)),
      parameters_(make_flat_parameters(parameter_specs(options_), device)),
      buffer_values_(make_buffer_values(options_, device)),
      buffers_(make_buffers(options_, buffer_values_)) {}

at::Tensor Mlp::forward(const at::Tensor& features, Mode mode, const DropoutNoise& noise) {
  const auto linear = [&](const at::Tensor& input, std::size_t layer) {
    const at::Tensor* parameters = &parameters_.parameters[first_parameter(options_, layer)];
    return at::linear(lowered(input, options_), lowered(parameters[0], options_),
                      lowered(parameters[1], options_));
  };
  const std::size_t num_hidden = options_.hidden_sizes.size();
  at::Tensor hidden = with_embeddings(features, options_, parameters_.parameters);
  for (std::size_t i = 0; i < num_hidden; ++i) {
    at::Tensor next = linear(hidden, i);
    next = activate(normalize(next, i, mode), options_.activation);
    if (options_.dropout > 0 && mode == Mode::kTraining) {
      next = next.mul(dropout_factors(next, options_.dropout, i, noise));
    }
    hidden = options_.residual && i > 0 ? hidden.add(next) : next;
  }
  return linear(hidden, num_hidden).to(at::kFloat);
}

at::Tensor Mlp::normalize(const at::Tensor& linear, std::size_t layer, Mode mode) {
  if (options_.norm == config::Norm::kNone) return linear;
  const at::Tensor hidden = linear.to(at::kFloat);
  const at::Tensor& weight = parameters_.parameters[first_parameter(options_, layer) + 2];
  const at::Tensor& bias = parameters_.parameters[first_parameter(options_, layer) + 3];
  if (options_.norm == config::Norm::kLayer) {
    return at::layer_norm(hidden, {hidden.size(1)}, weight, bias, kNormEpsilon);
  }
  const bool is_frozen = !weight.requires_grad() && !bias.requires_grad();
  const bool use_batch = mode == Mode::kTraining && !is_frozen;
  return at::batch_norm(hidden, weight, bias, buffers_[2 * layer].tensor,
                        buffers_[2 * layer + 1].tensor, use_batch, kBatchNormMomentum, kNormEpsilon,
                        /*cudnn_enabled=*/true);
}

std::vector<NamedTensor> Mlp::state() const {
  std::vector<NamedTensor> state;
  for (std::size_t i = 0; i < parameters_.specs.size(); ++i) {
    state.push_back({parameters_.specs[i].name, view_of(parameters_, parameters_.values, i)});
  }
  state.insert(state.end(), buffers_.begin(), buffers_.end());
  return state;
}

}  // namespace trainer::model
