// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/network_options.h"

#include <cstdint>

namespace trainer::data {

cpu::NetworkOptions network_options(const config::Config& config, const Schema& schema) {
  const config::ModelConfig& model = config.model;
  cpu::NetworkOptions options;
  options.num_features = schema.num_features();
  options.num_outputs = schema.num_outputs(config.training.loss);
  options.hidden_sizes = config::hidden_sizes(model);
  options.activation = model.activation;
  options.dropout = model.dropout;
  options.norm = model.norm;
  options.residual = model.residual;
  for (const Column& column : schema.columns) {
    if (!is_embedded(column)) continue;
    const auto num_categories = static_cast<int64_t>(column.categories.size());
    options.embeddings.push_back({num_categories + 1, column.embedding_size});
  }
  return options;
}

}  // namespace trainer::data
