// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/init.h"

#include <cmath>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>

#include "trainer/core/philox.h"

namespace trainer::model {
namespace {

// PyTorch names its random fills by the distribution's own parameters.
at::Tensor uniform(const at::Tensor& like, double bound, at::Generator& generator) {
  return at::empty(like.sizes(), at::kFloat).uniform_(-bound, bound, generator);
}

at::Tensor normal(const at::Tensor& like, double deviation, at::Generator& generator) {
  return at::empty(like.sizes(), at::kFloat).normal_(0, deviation, generator);
}

at::Tensor initial_weight(const at::Tensor& weight, config::Init scheme, int64_t num_residual,
                          bool is_output, at::Generator& generator) {
  const auto fan_out = static_cast<double>(weight.size(0));
  const auto fan_in = static_cast<double>(weight.size(1));
  switch (scheme) {
    case config::Init::kPytorch:
      return uniform(weight, 1 / std::sqrt(fan_in), generator);
    case config::Init::kKaiming:
      return normal(weight, std::sqrt((is_output ? 1 : 2) / fan_in), generator);
    case config::Init::kXavier:
      return uniform(weight, std::sqrt(6 / (fan_in + fan_out)), generator);
    case config::Init::kGpt2:
      return normal(weight, 0.02 / std::sqrt(static_cast<double>(num_residual)), generator);
  }
  return weight;
}

// Categories begin alike, nearly. With deviation 1, that of nn.Embedding, models of noisy tables of
// 100 and 300 categories were 1 to 3 points less accurate: what is random there is not forgotten.
double embedding_deviation(config::Init scheme) {
  return scheme == config::Init::kGpt2 ? 0.02 : 0.1;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

void initialize(Mlp& model, config::Init scheme, uint64_t seed) {
  at::Generator generator =
      at::detail::createCPUGenerator(PhiloxStream(seed, Purpose::kInit).next_u64());
  const FlatParameters& flat = model.parameters();
  const auto last_layer = model.num_layers() - 1;
  int64_t layer = -1;
  double bias_bound = 0;
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    const std::string& name = flat.specs[i].name;
    at::Tensor value = view_of(flat, flat.values, i);
    if (i < model.options().embeddings.size()) {
      value.copy_(normal(value, embedding_deviation(scheme), generator));
      value.select(0, -1).zero_();
    } else if (flat.specs[i].decay == Decay::kYes) {  // the weight of a linear layer
      ++layer;
      const bool inside_residual = model.options().residual && layer > 0 && layer < last_layer;
      value.copy_(initial_weight(value, scheme, inside_residual ? last_layer - 1 : 1,
                                 layer == last_layer, generator));
      bias_bound = 1 / std::sqrt(static_cast<double>(value.size(1)));
    } else if (ends_with(name, ".weight")) {
      value.fill_(1);
    } else if (name.rfind("layers.", 0) == 0 && scheme == config::Init::kPytorch) {
      value.copy_(uniform(value, bias_bound, generator));
    }
  }
}

}  // namespace trainer::model
