// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/parameters.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/parse.h"
#include "trainer/core/process_memory.h"

namespace trainer::model {
namespace {

int64_t padded(int64_t size) {
  constexpr int64_t kElementsIn64Bytes = 16;
  return (size + kElementsIn64Bytes - 1) / kElementsIn64Bytes * kElementsIn64Bytes;
}

// Checks before allocating: Linux overcommits memory and kills the process that uses it.
void require_room(const FlatParameters& flat, int64_t size) {
  require_memory(2 * size * int64_t{sizeof(float)},
                 fmt::format("a model of {} parameters, with their gradients,",
                             with_thousands(flat.num_parameters())),
                 "reduce model.hidden_sizes");
}

bool belongs_to(const ParameterGroup& group, const network::TensorSpec& spec) {
  return group.decay == spec.decay && group.factors == spec.factors;
}

// Decayed ones first, else in the order of their first parameters.
std::vector<ParameterGroup> find_groups(const FlatParameters& flat) {
  std::vector<ParameterGroup> groups;
  for (const network::Decay decay : {network::Decay::kYes, network::Decay::kNo}) {
    for (std::size_t i = 0; i < flat.specs.size(); ++i) {
      const network::TensorSpec& spec = flat.specs[i];
      if (!flat.is_trained[i] || spec.decay != decay) continue;
      const bool is_known =
          std::any_of(groups.begin(), groups.end(),
                      [&](const ParameterGroup& group) { return belongs_to(group, spec); });
      if (!is_known) groups.push_back({.decay = spec.decay, .factors = spec.factors});
    }
  }
  return groups;
}

}  // namespace

int64_t FlatParameters::num_parameters() const {
  return std::accumulate(
      specs.begin(), specs.end(), int64_t{0},
      [](int64_t sum, const network::TensorSpec& spec) { return sum + spec.num_elements(); });
}

int64_t FlatParameters::num_frozen() const {
  int64_t sum = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!is_trained[i]) sum += specs[i].num_elements();
  }
  return sum;
}

FlatParameters make_flat_parameters(std::vector<network::TensorSpec> specs,
                                    const std::vector<std::string>& freeze, c10::Device device) {
  FlatParameters flat;
  flat.specs = std::move(specs);
  for (const network::TensorSpec& spec : flat.specs) {
    flat.is_trained.push_back(!matches_any(spec.name, freeze));
  }
  flat.offsets.resize(flat.specs.size());
  int64_t size = 0;
  const auto assign_offset = [&](std::size_t i) {
    flat.offsets[i] = size;
    size += padded(flat.specs[i].num_elements());
  };
  for (ParameterGroup& group : find_groups(flat)) {
    group.begin = size;
    for (std::size_t i = 0; i < flat.specs.size(); ++i) {
      if (flat.is_trained[i] && belongs_to(group, flat.specs[i])) assign_offset(i);
    }
    group.end = size;
    flat.groups.push_back(group);
  }
  flat.num_trained = size;
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    if (!flat.is_trained[i]) assign_offset(i);
  }
  if (device.is_cpu()) require_room(flat, size);
  const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
  flat.values = at::zeros({size}, options);
  flat.gradients = at::zeros({size}, options);
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    at::Tensor parameter = parameter_view(flat, flat.values, i).detach();
    if (flat.is_trained[i]) {
      parameter.requires_grad_();
      parameter.mutable_grad() = parameter_view(flat, flat.gradients, i);  // autograd adds into it
    }
    flat.parameters.push_back(std::move(parameter));
  }
  return flat;
}

at::Tensor trained_range(const FlatParameters& flat, const at::Tensor& buffer) {
  return flat.num_trained == buffer.size(0) ? buffer : buffer.narrow(0, 0, flat.num_trained);
}

at::Tensor parameter_view(const FlatParameters& flat, const at::Tensor& buffer, std::size_t index) {
  const network::TensorSpec& spec = flat.specs[index];
  return buffer.narrow(0, flat.offsets[index], spec.num_elements()).view(spec.shape);
}

}  // namespace trainer::model
