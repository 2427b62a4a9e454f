// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/model.h"
#include "trainer/config/load.h"
#include "trainer/nn/spec/build.h"
#include "trainer/run/checkpoint/checkpoint.h"

#include "support/checkpoints.h"
#include "support/numbers.h"

namespace trainer::test {

/// The recipe of a random model.
struct ModelRecipe {
  std::string model = "{hidden_sizes: [8, 8]}";  // YAML
  std::string training = "{}";
  int64_t num_features = 5;
  std::vector<std::string> labels = {"a", "b", "c"};  // none: regression
  int64_t num_targets = 1;
  bool is_averaged = false;
  /// Whether every other feature and target has an offset, and features are columns of which each
  /// third one is limited.
  bool has_offsets = false;
  bool has_smooth_clip = false;    // of every other feature
  bool clips_predictions = false;  // regression
};

inline std::vector<checkpoint::NamedTensor> make_weights(
    const std::vector<network::TensorSpec>& specs, uint64_t seed) {
  std::vector<checkpoint::NamedTensor> weights;
  weights.reserve(specs.size());
  for (const network::TensorSpec& spec : specs) {
    std::vector<float> values = some_numbers(spec.num_elements(), seed++);
    if (spec.name.ends_with("var")) {
      for (float& value : values) value = std::abs(value) + 0.5F;
    }
    if (spec.name.ends_with("edges")) {
      for (auto row = values.begin(); row != values.end(); row += spec.shape[1]) {
        std::sort(row, row + spec.shape[1]);
        *(row + spec.shape[1] - 1) = *(row + spec.shape[1] - 2);  // the last bin has no width
      }
    }
    weights.push_back({spec.name, float_data(spec.shape, values)});
  }
  return weights;
}

inline void add_offsets(data::Schema& schema) {
  for (std::size_t i = 0; i < schema.feature_names.size(); ++i) {
    data::Column& column = schema.columns.emplace_back();
    column.name = schema.feature_names[i];
    column.fill = 0.25F;
    if (i % 2 == 0) column.offset = 1.7e9 + static_cast<double>(i);
    if (i % 3 == 0) column.limits = data::Limits{-0.5F, 0.75F};
  }
  schema.scaling.offset = data::feature_offsets(schema.columns);
  std::vector<double>& of_targets = schema.target_scaling.offset;
  of_targets.assign(schema.target_scaling.shift.size(), 0);
  for (std::size_t i = 0; i < of_targets.size(); i += 2) of_targets[i] = 1e9 + 0.5;
}

/// A checkpoint that apply::load_model takes, with other numbers for another seed.
inline checkpoint::Checkpoint make_checkpoint(const ModelRecipe& recipe, uint64_t seed = 1) {
  checkpoint::Checkpoint c;
  c.config = fmt::format("model: {}\ntraining: {}\n", recipe.model, recipe.training);
  c.optimizer = "adamw";
  c.state.position = {.epoch = 3, .step = 12, .samples_in_epoch = 0};
  data::Schema& schema = c.schema;
  const auto size = static_cast<std::size_t>(recipe.num_features);
  for (std::size_t i = 0; i < size; ++i) schema.feature_names.push_back(fmt::format("x{}", i));
  schema.scaling = {some_numbers(recipe.num_features, 77), std::vector<float>(size, 0.75F)};
  if (recipe.has_smooth_clip) {
    for (std::size_t i = 0; i < size; ++i) {
      schema.scaling.inverse_limit.push_back(i % 2 == 0 ? 0.5F : 0.0F);
    }
  }
  schema.labels = recipe.labels;
  if (recipe.labels.empty()) {
    schema.task = config::Task::kRegression;
    for (int64_t i = 0; i < recipe.num_targets; ++i) {
      schema.target_names.push_back(fmt::format("y{}", i));
      schema.target_scaling.shift.push_back(static_cast<float>(10 * i - 3));
      schema.target_scaling.scale.push_back(0.25F / static_cast<float>(i + 1));
      if (!recipe.clips_predictions) continue;
      schema.target_low.push_back(-0.25F);
      schema.target_high.push_back(0.5F);
    }
  } else {
    schema.target_names = {"kind"};
  }
  if (recipe.has_offsets) add_offsets(schema);
  const config::Config config = config::load({{"recipe", c.config, ""}}, {}).config;
  const network::NetworkSpec network = network::build(config, schema);
  c.model = make_weights(network::tensors(network), seed);
  const std::vector<network::TensorSpec> parameters = network::parameters(network);
  for (const char* moment : {"exp_avg", "exp_avg_sq"}) {
    c.moments.push_back({moment, make_weights(parameters, seed)});
  }
  if (recipe.is_averaged) c.moments.push_back({"ema", make_weights(parameters, seed + 100)});
  return c;
}

}  // namespace trainer::test
