// SPDX-License-Identifier: Apache-2.0
#include "trainer/diagnose/profile/workload.h"

#include <variant>

namespace trainer::profile {
namespace {

const network::Linear* find_linear(const network::NetworkSpec& network, std::size_t index) {
  for (const network::Layer& layer : network.layers) {
    const auto* linear = std::get_if<network::Linear>(&layer);
    if (linear != nullptr && index-- == 0) return linear;
  }
  return nullptr;
}

// The gradient with respect to the inputs of the first linear layer is only needed if parameters
// come before it.
bool needs_input_gradient(const network::NetworkSpec& network, std::size_t layer) {
  return layer > 0 || !std::holds_alternative<network::Linear>(network.layers.front());
}

}  // namespace

std::optional<double> flops_per_row(const network::NetworkSpec& network, Work work,
                                    std::size_t layer) {
  const network::Linear* linear = find_linear(network, layer);
  if (linear == nullptr) return std::nullopt;
  const double flops = 2.0 * static_cast<double>(linear->num_inputs * linear->num_outputs *
                                                 network::num_members(network));
  switch (work) {
    case Work::kForward:
    case Work::kWeightGradient:
      return flops;
    case Work::kInputGradient:
      return needs_input_gradient(network, layer) ? std::optional(flops) : std::nullopt;
    case Work::kBackward:
      return needs_input_gradient(network, layer) ? 2 * flops : flops;
    case Work::kGather:
    case Work::kLoss:
    case Work::kReduce:
    case Work::kGradientNorm:
    case Work::kUpdate:
    case Work::kWriteCheckpoint:
      break;
  }
  return std::nullopt;
}

std::optional<double> bytes_moved(const Workload& workload, Work work) {
  constexpr int64_t kFloat = sizeof(float);
  const int64_t num_parameters = network::num_parameters(workload.network);
  const auto steps = static_cast<double>(workload.steps);
  switch (work) {
    case Work::kGather:
      return static_cast<double>(workload.rows * workload.network.num_features *
                                 (workload.bytes_per_feature + kFloat));
    case Work::kGradientNorm:
      return steps * static_cast<double>(num_parameters * kFloat);
    case Work::kUpdate:  // reads the gradient; reads and writes parameter and moments
      return steps *
             static_cast<double>(num_parameters * kFloat * (1 + 2 * (1 + workload.num_moments)));
    case Work::kForward:
    case Work::kLoss:
    case Work::kInputGradient:
    case Work::kWeightGradient:
    case Work::kBackward:
    case Work::kReduce:
    case Work::kWriteCheckpoint:
      break;
  }
  return std::nullopt;
}

}  // namespace trainer::profile
