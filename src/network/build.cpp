// SPDX-License-Identifier: Apache-2.0
#include "trainer/network/build.h"

#include "trainer/config/config.h"
#include "trainer/data/dataset.h"
#include "trainer/network/mlp.h"

namespace trainer::network {
namespace {

// Builds the network of one architecture.
using Builder = NetworkSpec (*)(const config::Config& config, const data::Schema& schema);

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
                     .init = model.init};
  for (const data::Column& column : schema.columns) {
    if (!data::is_embedded(column)) continue;
    const auto num_categories = static_cast<int64_t>(column.categories.size());
    options.embeddings.push_back({.num_rows = num_categories + 1, .size = column.embedding_size});
  }
  return mlp(options);
}

// In the order of config::Architecture.
constexpr Builder kBuilders[] = {build_mlp};

}  // namespace

NetworkSpec build(const config::Config& config, const data::Schema& schema) {
  return kBuilders[static_cast<std::size_t>(config.model.name)](config, schema);
}

}  // namespace trainer::network
