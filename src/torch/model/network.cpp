// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/network.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "trainer/base/text/parse.h"

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

}  // namespace trainer::model
