// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/spec/build.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "trainer/config/config.h"
#include "trainer/nn/spec/mlp.h"
#include "trainer/table/dataset.h"

namespace trainer::network {
namespace {

// A function that builds the network of one architecture.
using Builder = NetworkSpec (*)(const config::Config& config, const data::Schema& schema);

// Returns the indices of the features of numeric columns; of all features if the data has no
// columns.
std::vector<int64_t> numeric_features(const data::Schema& schema) {
  std::vector<int64_t> features;
  if (schema.columns.empty()) {
    features.resize(static_cast<std::size_t>(schema.num_features()));
    std::iota(features.begin(), features.end(), 0);
    return features;
  }
  const std::vector<int64_t> first = data::first_features(schema.columns);
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (schema.columns[i].kind == data::ColumnKind::kNumeric) features.push_back(first[i]);
  }
  return features;
}

// Returns the group of each feature. All features of a column, such as its categories, are one
// group.
std::vector<int64_t> feature_groups(const data::Schema& schema) {
  if (schema.columns.empty()) return {};
  std::vector<int64_t> groups(static_cast<std::size_t>(schema.num_features()));
  const std::vector<int64_t> first = data::first_features(schema.columns);
  int64_t group = 0;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const int64_t count = data::num_features(schema.columns[i]);
    if (count == 0) continue;
    std::fill_n(groups.begin() + first[i], count, group);
    ++group;
  }
  return groups;
}

NetworkSpec build_mlp(const config::Config& config, const data::Schema& schema) {
  const config::ModelConfig& model = config.model;
  MlpOptions options{.num_features = schema.num_features(),
                     .num_outputs = schema.num_outputs(config.training.loss),
                     .hidden_sizes = config::hidden_sizes(model),
                     .activation = model.activation,
                     .dropout = model.dropout,
                     .norm = model.norm,
                     .residual = model.residual,
                     .embeddings = {},
                     .init = model.init,
                     .zero_output = model.zero_output,
                     .parametrization = model.parametrization,
                     .parametric_activation = model.parametric_activation,
                     .input_scale = model.input_scale,
                     .num_members = model.ensemble_size,
                     .mean = mean_for(schema.task),
                     .feature_groups = feature_groups(schema),
                     .numeric_embedding = model.numeric_embedding,
                     .embedded_features = numeric_features(schema),
                     .num_frequencies = model.num_frequencies,
                     .num_bins = model.num_bins,
                     .embedding_size = model.numeric_embedding_size,
                     .frequency_deviation = model.frequency_deviation};
  for (const data::Column& column : schema.columns) {
    if (!data::is_embedded(column)) continue;
    const auto num_categories = static_cast<int64_t>(column.categories.size());
    options.embeddings.push_back({.num_rows = num_categories + 1, .size = column.embedding_size});
  }
  return mlp(options);
}

// The builders in the order of the enumerators of config::Architecture.
constexpr Builder kBuilders[] = {build_mlp};

}  // namespace

NetworkSpec build(const config::Config& config, const data::Schema& schema) {
  return kBuilders[static_cast<std::size_t>(config.model.name)](config, schema);
}

}  // namespace trainer::network
