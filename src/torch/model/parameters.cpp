// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/parameters.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "trainer/base/memory/process_memory.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

namespace trainer::model {
namespace {

constexpr int64_t kElementsIn64Bytes = 16;

int64_t padded(int64_t size) {
  return (size + kElementsIn64Bytes - 1) / kElementsIn64Bytes * kElementsIn64Bytes;
}

// Checks the memory in advance, because Linux overcommits memory and kills a process that uses too
// much of it.
void require_room(const FlatParameters& flat, int64_t size) {
  require_memory(2 * size * int64_t{sizeof(float)},
                 fmt::format("a model of {} parameters, with their gradients,",
                             with_thousands(flat.num_parameters())),
                 "reduce model.hidden_sizes");
}

bool belongs_to(const ParameterGroup& group, const network::TensorSpec& spec) {
  return group.decay == spec.decay && group.factors == spec.factors;
}

// Returns the groups: first those with weight decay, each kind in the order of the first
// parameters.
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
  flat.padding = at::zeros({kElementsIn64Bytes - 1}, options);
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    at::Tensor parameter = parameter_view(flat, flat.values, i).detach();
    if (flat.is_trained[i]) {
      parameter.requires_grad_();
      flat.by_offset.push_back(i);
    }
    flat.parameters.push_back(std::move(parameter));
  }
  std::sort(flat.by_offset.begin(), flat.by_offset.end(),
            [&](std::size_t a, std::size_t b) { return flat.offsets[a] < flat.offsets[b]; });
  return flat;
}

void forget_gradients(FlatParameters& flat) {
  for (const std::size_t i : flat.by_offset) flat.parameters[i].mutable_grad().reset();
}

void collect_gradients(FlatParameters& flat, Accumulate accumulate) {
  std::vector<at::Tensor> pieces;  // consecutive pieces without gaps
  int64_t end = 0;
  const auto fill_up_to = [&](int64_t begin) {
    const int64_t gap = begin - end;
    if (gap == 0) return;
    pieces.push_back(gap <= flat.padding.size(0) ? flat.padding.narrow(0, 0, gap)
                                                 : at::zeros({gap}, flat.gradients.options()));
  };
  for (const std::size_t i : flat.by_offset) {
    const at::Tensor& gradient = flat.parameters[i].grad();
    if (!gradient.defined()) continue;  // the loss does not depend on the parameter
    fill_up_to(flat.offsets[i]);
    pieces.push_back(gradient.reshape({-1}));
    end = flat.offsets[i] + gradient.numel();
  }
  fill_up_to(flat.num_trained);
  forget_gradients(flat);
  if (pieces.empty()) return;
  at::Tensor all = trained_range(flat, flat.gradients);
  if (accumulate == Accumulate::kYes) {
    all.add_(at::cat(pieces));
  } else {
    at::cat_out(all, pieces);
  }
}

at::Tensor trained_range(const FlatParameters& flat, const at::Tensor& buffer) {
  return flat.num_trained == buffer.size(0) ? buffer : buffer.narrow(0, 0, flat.num_trained);
}

at::Tensor parameter_view(const FlatParameters& flat, const at::Tensor& buffer, std::size_t index) {
  const network::TensorSpec& spec = flat.specs[index];
  return buffer.narrow(0, flat.offsets[index], spec.num_elements()).view(spec.shape);
}

}  // namespace trainer::model
