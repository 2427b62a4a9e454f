// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/spec/mlp.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace trainer::network {
namespace {

using Kind = Initializer::Kind;

Initializer uniform(double bound) { return {.kind = Kind::kUniform, .value = bound}; }
Initializer normal(double deviation) { return {.kind = Kind::kNormal, .value = deviation}; }

// The initial values are small, so that categories start nearly equal. With the standard deviation
// 1 of nn.Embedding, models of noisy tables with 100 and 300 categories were 1 to 3 points less
// accurate.
Initializer embedding_init(config::Init scheme) {
  Initializer init = normal(scheme == config::Init::kGpt2 ? 0.02 : 0.1);
  init.last_row_zero = true;
  return init;
}

Initializer weight_init(config::Init scheme, int64_t num_inputs, int64_t num_outputs,
                        bool is_output, int64_t num_residual) {
  const auto fan_in = static_cast<double>(num_inputs);
  const auto fan_out = static_cast<double>(num_outputs);
  switch (scheme) {
    case config::Init::kPytorch:
      return uniform(1 / std::sqrt(fan_in));
    case config::Init::kKaiming:
      return normal(std::sqrt((is_output ? 1 : 2) / fan_in));
    case config::Init::kXavier:
      return uniform(std::sqrt(6 / (fan_in + fan_out)));
    case config::Init::kGpt2:
      return normal(0.02 / std::sqrt(static_cast<double>(num_residual)));
    case config::Init::kNtk:
      return normal(1 / std::sqrt(fan_in));
    case config::Init::kData:
      return {.kind = Kind::kStandardized, .value = 1 / std::sqrt(fan_in)};
    case config::Init::kRidge:
      return {.kind = is_output ? Kind::kRidge : Kind::kStandardized,
              .value = 1 / std::sqrt(fan_in)};
  }
  return {};
}

Initializer bias_init(config::Init scheme, int64_t num_inputs) {
  switch (scheme) {
    case config::Init::kPytorch:
      return uniform(1 / std::sqrt(static_cast<double>(num_inputs)));
    case config::Init::kNtk:
      return normal(1);
    case config::Init::kData:
    case config::Init::kRidge:
      return {.kind = Kind::kMinusMixedRows, .value = 0};
    case config::Init::kKaiming:
    case config::Init::kXavier:
    case config::Init::kGpt2:
      break;
  }
  return {};
}

UpdateFactors weight_factors(config::Parametrization parametrization, int64_t num_inputs) {
  if (parametrization == config::Parametrization::kStandard) return {};
  const double root = std::sqrt(static_cast<double>(num_inputs));
  return {.learning_rate = 1 / root, .weight_decay = root, .epsilon = root};
}

Linear linear(const MlpOptions& o, std::size_t index, int64_t num_inputs) {
  const std::size_t num_hidden = o.hidden_sizes.size();
  const bool is_output = index == num_hidden;
  const bool is_in_residual = o.residual && index > 0 && !is_output;
  const int64_t num_outputs = is_output ? o.num_outputs : o.hidden_sizes[index];
  const int64_t num_residual = is_in_residual ? static_cast<int64_t>(num_hidden) - 1 : 1;
  const bool is_zero = is_output && o.zero_output;
  return {.name = fmt::format("layers.{}", index),
          .num_inputs = num_inputs,
          .num_outputs = num_outputs,
          .weight = is_zero ? Initializer{}
                            : weight_init(o.init, num_inputs, num_outputs, is_output, num_residual),
          .bias = is_zero ? Initializer{} : bias_init(o.init, num_inputs),
          .weight_factors = weight_factors(o.parametrization, num_inputs),
          .num_members = is_output ? o.num_members : 1};
}

bool embeds_numbers(const MlpOptions& o) {
  return o.numeric_embedding != config::NumericEmbedding::kNone && !o.embedded_features.empty();
}

Layer numeric_embedding(const MlpOptions& o) {
  const std::string name = "numeric_embeddings";
  if (o.numeric_embedding == config::NumericEmbedding::kPeriodic) {
    return PeriodicEmbedding{.name = name,
                             .features = o.embedded_features,
                             .num_frequencies = o.num_frequencies,
                             .size = o.embedding_size,
                             .frequencies = normal(o.frequency_deviation)};
  }
  return PiecewiseEmbedding{.name = name,
                            .features = o.embedded_features,
                            .num_bins = o.num_bins,
                            .size = o.embedding_size};
}

// Returns the group of each input of the first linear layer: features, rows of tables, embedded
// numbers.
std::vector<int64_t> input_groups(const MlpOptions& o) {
  std::vector<int64_t> of_features = o.feature_groups;
  if (of_features.empty()) {
    of_features.resize(static_cast<std::size_t>(o.num_features));
    std::iota(of_features.begin(), of_features.end(), 0);
  }
  const auto first_index = of_features.end() - std::ssize(o.embeddings);
  std::vector<int64_t> groups(of_features.begin(), first_index);
  for (std::size_t i = 0; i < o.embeddings.size(); ++i) {
    groups.insert(groups.end(), static_cast<std::size_t>(o.embeddings[i].size),
                  first_index[static_cast<std::ptrdiff_t>(i)]);
  }
  for (std::size_t i = 0; embeds_numbers(o) && i < o.embedded_features.size(); ++i) {
    const int64_t feature = o.embedded_features[i];
    groups.insert(groups.end(), static_cast<std::size_t>(o.embedding_size),
                  of_features[static_cast<std::size_t>(feature)]);
  }
  return groups;
}

InputScale input_scale(const MlpOptions& o, int64_t width) {
  InputScale scale{
      .name = "input_scale", .size = width, .num_members = o.num_members, .weight = {}};
  if (o.num_members == 1) {
    scale.weight.value = 1;
  } else {
    scale.weight = embeds_numbers(o) ? normal(1) : Initializer{.kind = Kind::kSign};
    scale.weight.groups = input_groups(o);
  }
  return scale;
}

// Adds the layers before the first hidden layer. Returns the width of its input.
int64_t add_inputs(const MlpOptions& o, std::vector<Layer>& layers) {
  int64_t width = o.num_features;
  if (!o.embeddings.empty()) {
    Embeddings embeddings;
    embeddings.num_numeric = o.num_features - static_cast<int64_t>(o.embeddings.size());
    width = embeddings.num_numeric;
    for (const TableSize& table : o.embeddings) {
      embeddings.tables.push_back({.name = fmt::format("embeddings.{}", embeddings.tables.size()),
                                   .num_rows = table.num_rows,
                                   .size = table.size,
                                   .weight = embedding_init(o.init)});
      width += table.size;
    }
    layers.emplace_back(std::move(embeddings));
  }
  if (embeds_numbers(o)) {
    layers.push_back(numeric_embedding(o));
    width += static_cast<int64_t>(o.embedded_features.size()) * o.embedding_size;
  }
  if (o.input_scale || o.num_members > 1) layers.emplace_back(input_scale(o, width));
  return width;
}

void add_hidden(const MlpOptions& o, std::size_t i, int64_t num_inputs,
                std::vector<Layer>& layers) {
  const bool has_residual = o.residual && i > 0;
  const int64_t size = o.hidden_sizes[i];
  if (has_residual) layers.emplace_back(ResidualBegin{});
  layers.emplace_back(linear(o, i, num_inputs));
  if (o.norm == config::Norm::kBatch)
    layers.emplace_back(BatchNorm{fmt::format("norms.{}", i), size});
  if (o.norm == config::Norm::kLayer)
    layers.emplace_back(LayerNorm{fmt::format("norms.{}", i), size});
  layers.emplace_back(o.parametric_activation
                          ? Activation{o.activation, fmt::format("activations.{}", i), size}
                          : Activation{o.activation});
  if (o.dropout > 0) layers.emplace_back(Dropout{o.dropout, static_cast<uint32_t>(i)});
  if (has_residual) layers.emplace_back(ResidualEnd{});
}

}  // namespace

NetworkSpec mlp(const MlpOptions& o) {
  NetworkSpec network{.num_features = o.num_features, .num_outputs = o.num_outputs, .layers = {}};
  int64_t width = add_inputs(o, network.layers);
  for (std::size_t i = 0; i < o.hidden_sizes.size(); ++i) {
    add_hidden(o, i, width, network.layers);
    width = o.hidden_sizes[i];
  }
  network.layers.emplace_back(linear(o, o.hidden_sizes.size(), width));
  if (o.num_members > 1) {
    network.layers.emplace_back(MemberMean{.name = "member_mean",
                                           .num_members = o.num_members,
                                           .num_outputs = o.num_outputs,
                                           .mean = o.mean});
  }
  return network;
}

Bins make_bins(const PiecewiseEmbedding& embedding, std::span<const float> edges) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const auto num_edges = static_cast<std::size_t>(embedding.num_bins) + 1;
  Bins bins;
  for (std::size_t feature = 0; feature < embedding.features.size(); ++feature) {
    const std::span<const float> own = edges.subspan(feature * num_edges, num_edges);
    for (std::size_t t = 0; t + 1 < num_edges; ++t) {
      const bool has_width = own[t + 1] > own[t];
      const bool is_last = t + 2 == num_edges || !(own[t + 2] > own[t + 1]);
      bins.left.push_back(own[t]);
      bins.inverse_width.push_back(has_width ? 1 / (own[t + 1] - own[t]) : 0);
      bins.low.push_back(has_width && t == 0 ? -kMost : 0);
      bins.high.push_back(!has_width ? 0 : is_last ? kMost : 1);
    }
  }
  return bins;
}

}  // namespace trainer::network
