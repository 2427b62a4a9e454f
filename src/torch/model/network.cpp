// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/network.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "trainer/base/philox.h"
#include "trainer/base/text/parse.h"
#include "trainer/table/schema/quantiles.h"
#include "trainer/torch/model/ridge.h"

#include "torch/model/forward.h"

namespace trainer::model {
namespace {

at::Tensor make_buffer_values(const std::vector<network::TensorSpec>& specs, c10::Device device) {
  int64_t size = 0;
  for (const network::TensorSpec& spec : specs) size += spec.num_elements();
  if (size == 0) return {};
  return at::zeros({size}, at::TensorOptions().dtype(at::kFloat).device(device));
}

std::vector<NamedTensor> make_buffers(const std::vector<network::TensorSpec>& specs,
                                      const at::Tensor& values) {
  std::vector<NamedTensor> buffers;
  int64_t begin = 0;
  for (const network::TensorSpec& spec : specs) {
    at::Tensor buffer = values.narrow(0, begin, spec.num_elements()).view(spec.shape);
    buffer.fill_(spec.init.value);
    buffers.push_back({spec.name, std::move(buffer)});
    begin += spec.num_elements();
  }
  return buffers;
}

// Copies the indices to the device once, because a copy from the CPU in a pass would wait for the
// device.
std::vector<at::Tensor> embedded_columns(const network::NetworkSpec& network, c10::Device device) {
  std::vector<at::Tensor> columns(network.layers.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const network::Layer& layer = network.layers[i];
    if (const auto* periodic = std::get_if<network::PeriodicEmbedding>(&layer)) {
      columns[i] = at::tensor(periodic->features, at::kLong).to(device);
    } else if (const auto* piecewise = std::get_if<network::PiecewiseEmbedding>(&layer)) {
      columns[i] = at::tensor(piecewise->features, at::kLong).to(device);
    }
  }
  return columns;
}

// Multiplies the learning rate of each tensor by the factor of the first pattern that matches its
// name.
std::vector<network::TensorSpec> with_factors(
    std::vector<network::TensorSpec> specs,
    const std::vector<config::LearningRateFactor>& lr_factors) {
  for (network::TensorSpec& spec : specs) {
    const auto found = std::find_if(lr_factors.begin(), lr_factors.end(),
                                    [&](const config::LearningRateFactor& factor) {
                                      return matches_any(spec.name, std::span(&factor.pattern, 1));
                                    });
    if (found != lr_factors.end()) spec.factors.learning_rate *= found->factor;
  }
  return specs;
}

}  // namespace

Network::Network(network::NetworkSpec spec, NetworkOptions options, c10::Device device)
    : spec_(std::move(spec)),
      options_(std::move(options)),
      parameters_(make_flat_parameters(
          with_factors(network::parameters(spec_), options_.lr_factors), options_.freeze, device)),
      buffer_values_(make_buffer_values(network::buffers(spec_), device)),
      buffers_(make_buffers(network::buffers(spec_), buffer_values_)),
      embedded_columns_(model::embedded_columns(spec_, device)) {}

at::Tensor Network::forward(const at::Tensor& features, Mode mode,
                            const DropoutNoise& noise) const {
  if (mode == Mode::kInference || features.is_cpu() || noise.masks != nullptr) {
    return Forward(*this, mode, noise).run(features);
  }
  const auto masks = std::make_shared<DropoutMasks>();
  masks->draw(spec_, noise, features.size(0), features.device(), /*uploads=*/nullptr);
  DropoutNoise drawn = noise;
  drawn.masks = masks;
  return Forward(*this, mode, drawn).run(features);
}

std::vector<NamedTensor> Network::state() const {
  std::vector<NamedTensor> state;
  state.reserve(parameters_.specs.size());
  for (std::size_t i = 0; i < parameters_.specs.size(); ++i) {
    state.push_back(
        {parameters_.specs[i].name, parameter_view(parameters_, parameters_.values, i)});
  }
  state.insert(state.end(), buffers_.begin(), buffers_.end());
  return state;
}

namespace {

using Kind = network::Initializer::Kind;

void fill(at::Tensor& value, const network::Initializer& init, at::Generator& generator) {
  at::Tensor drawn = at::empty(value.sizes(), at::kFloat);
  switch (init.kind) {
    case Kind::kConstant:
      drawn.fill_(init.value);
      break;
    case Kind::kUniform:
      drawn.uniform_(-init.value, init.value, generator);
      break;
    case Kind::kNormal:
    case Kind::kStandardized:
      drawn.normal_(0, init.value, generator);
      break;
    case Kind::kSign:
      drawn.random_(0, 2, generator).mul_(2).sub_(1);
      break;
    case Kind::kRidge:
    case Kind::kMinusMixedRows:
    case Kind::kQuantiles:
      drawn.zero_();
      break;
  }
  if (init.last_row_zero) drawn.select(0, -1).zero_();
  if (!init.groups.empty()) {  // column j gets the values that were drawn for column groups[j]
    drawn = drawn.index_select(-1, at::tensor(init.groups, at::kLong));
  }
  value.copy_(drawn);
}

// A random convex combination of five rows for each column: row indices and weights, both `[5,
// num_columns]`.
struct Mixture {
  at::Tensor rows;
  at::Tensor weights;
};

Mixture draw_mixture(int64_t num_rows, int64_t num_columns, at::Generator& generator) {
  constexpr int64_t kRows = 5;
  at::Tensor weights = at::empty({kRows, num_columns}, at::kFloat).exponential_(1, generator);
  return {.rows = at::randint(num_rows, {kRows, num_columns}, generator, at::kLong),
          .weights = weights.div_(weights.sum(0, /*keepdim=*/true))};
}

// Scales the weight so that each output has the standard deviation 1 over the rows of `inputs`, and
// sets the bias to minus the output of a random convex combination of rows.
void fit_linear(const at::Tensor& inputs, const at::Tensor& weight, const at::Tensor& bias,
                at::Generator& generator) {
  constexpr double kConstant = 1e-6;  // an output that does not vary is not scaled
  at::Tensor outputs = at::linear(inputs, weight);
  at::Tensor deviations = outputs.std(/*dim=*/0, /*unbiased=*/false);
  deviations.masked_fill_(deviations.le(kConstant), 1);
  weight.div_(deviations.unsqueeze(1));
  outputs.div_(deviations);
  const Mixture mixture = draw_mixture(outputs.size(0), outputs.size(1), generator);
  bias.copy_(outputs.gather(0, mixture.rows).mul_(mixture.weights).sum(0).neg_());
}

// The targets of a linear model `[rows, outputs]`: classes are logits of 2 and -2.
at::Tensor as_numbers(const at::Tensor& targets, int64_t num_outputs) {
  constexpr double kLogit = 2;
  if (targets.dim() == 2) return targets;
  const at::Tensor classes =
      num_outputs == 1 ? targets.unsqueeze(1) : targets.unsqueeze(1).eq(at::arange(num_outputs));
  return classes.to(at::kDouble).mul_(2 * kLogit).sub_(kLogit);
}

void fit_to_targets(const at::Tensor& inputs, const Targets& targets, const at::Tensor& weight,
                    const at::Tensor& bias) {
  const LinearModel fitted =
      fit_ridge(inputs, as_numbers(targets.values, weight.size(0)), targets.weights);
  weight.copy_(fitted.weight);
  bias.copy_(fitted.bias);
}

// Fits each member of the layer to its own rows.
void fit_members(const network::Linear& linear, const at::Tensor& inputs, const Targets& targets,
                 const at::Tensor& weight, const at::Tensor& bias, at::Generator& generator) {
  const int64_t count = linear.num_members;
  const at::Tensor by_member = inputs.view({-1, count, linear.num_inputs});
  const at::Tensor weights = weight.view({count, linear.num_outputs, linear.num_inputs});
  const at::Tensor biases = bias.view({count, linear.num_outputs});
  for (int64_t i = 0; i < count; ++i) {
    const at::Tensor own = by_member.select(1, i);
    if (linear.weight.kind == Kind::kRidge) {
      fit_to_targets(own, targets, weights.select(0, i), biases.select(0, i));
    } else {
      fit_linear(own, weights.select(0, i), biases.select(0, i), generator);
    }
  }
}

// The edges `[features, bins + 1]` of a piecewise-linear embedding: quantiles of its columns of
// `inputs`. Of equal quantiles only one is kept; the last one is repeated to fill the rest.
void fit_edges(const network::PiecewiseEmbedding& piecewise, const at::Tensor& inputs,
               const at::Tensor& edges) {
  const auto num_edges = static_cast<std::size_t>(piecewise.num_bins + 1);
  auto* out = edges.data_ptr<float>();
  for (const int64_t feature : piecewise.features) {
    const at::Tensor column = inputs.select(1, feature).contiguous();
    const auto* values = column.data_ptr<float>();
    std::vector<float> own = data::find_quantiles({values, values + column.numel()}, num_edges);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    own.resize(num_edges, own.back());
    out = std::copy(own.begin(), own.end(), out);
  }
}

bool depends_on_data(const network::Linear& linear) {
  return linear.weight.kind == Kind::kStandardized || linear.weight.kind == Kind::kRidge;
}

// Initializes the layers that depend on data one after the other, because the input of a layer
// depends on the layers before it.
void fit_to(Network& network, const TrainingRows& rows, at::Generator& generator) {
  const network::NetworkSpec& spec = network.spec();
  const std::vector<network::TensorPosition> positions = network::tensor_positions(spec);
  const Forward forward(network, Mode::kInference, {});
  const FlatParameters& flat = network.parameters();
  forward.run_layers(
      0, spec.layers.size(), rows.features, RunningStatistics::kKeep,
      [&](std::size_t i, const at::Tensor& inputs) {
        if (const auto* piecewise = std::get_if<network::PiecewiseEmbedding>(&spec.layers[i])) {
          fit_edges(*piecewise, inputs, network.buffers()[positions[i].buffer].tensor);
        }
        const auto* linear = std::get_if<network::Linear>(&spec.layers[i]);
        if (linear == nullptr || !depends_on_data(*linear)) return;
        fit_members(*linear, inputs, rows.targets,
                    parameter_view(flat, flat.values, positions[i].parameter),
                    parameter_view(flat, flat.values, positions[i].parameter + 1), generator);
      });
}

}  // namespace

bool needs_data(const network::NetworkSpec& network) {
  return std::any_of(network.layers.begin(), network.layers.end(), [](const auto& layer) {
    const auto* linear = std::get_if<network::Linear>(&layer);
    return std::holds_alternative<network::PiecewiseEmbedding>(layer) ||
           (linear != nullptr && depends_on_data(*linear));
  });
}

void initialize(Network& network, uint64_t seed, const TrainingRows& rows) {
  const at::NoGradGuard no_gradient;
  at::Generator generator =
      at::detail::createCPUGenerator(PhiloxStream(seed, StreamId::kInit).next_u64());
  const FlatParameters& flat = network.parameters();
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    at::Tensor value = parameter_view(flat, flat.values, i);
    fill(value, flat.specs[i].init, generator);
  }
  if (!needs_data(network.spec())) return;
  Network on_cpu(network.spec(), {}, c10::kCPU);
  at::Tensor& values = on_cpu.parameters().values;
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    parameter_view(on_cpu.parameters(), values, i).copy_(parameter_view(flat, flat.values, i));
  }
  fit_to(on_cpu, rows, generator);
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    parameter_view(flat, flat.values, i).copy_(parameter_view(on_cpu.parameters(), values, i));
  }
  if (network.buffer_values().defined()) network.buffer_values().copy_(on_cpu.buffer_values());
}

}  // namespace trainer::model
