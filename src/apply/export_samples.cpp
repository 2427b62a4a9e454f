// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export_samples.h"

#include <cstddef>

#include "trainer/apply/predictor.h"
#include "trainer/core/philox.h"

namespace trainer::apply {
namespace {

/// Rows of each embedding: one a category, and the last one.
std::vector<std::size_t> table_sizes(const data::Schema& schema) {
  std::vector<std::size_t> sizes;
  for (const data::Column& column : schema.columns) {
    if (data::is_embedded(column)) sizes.push_back(column.categories.size() + 1);
  }
  return sizes;
}

// An exported model takes features that are beyond them too.
data::Matrix within_limits(const data::Schema& schema, data::Matrix features) {
  const FeatureLimits limits = feature_limits(schema);
  if (limits.low.empty()) return features;
  auto& values = std::get<Array<float>>(features.values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t feature = i % limits.low.size();
    values[i] =
        data::limited(values[i], {.low = limits.low[feature], .high = limits.high[feature]});
  }
  return features;
}

}  // namespace

data::Matrix sample_features(const Model& model, int64_t num_rows) {
  const data::Scaling& scaling = model.schema.scaling;
  PhiloxStream random(/*seed=*/1, StreamId::kSynthetic);
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(num_rows) * scaling.shift.size());
  const std::vector<std::size_t> tables = table_sizes(model.schema);
  const std::size_t num_plain = scaling.shift.size() - tables.size();
  for (int64_t row = 0; row < num_rows; ++row) {
    for (std::size_t i = 0; i < num_plain; ++i) {
      const double deviation = scaling.scale[i] == 0 ? 1 : 1 / scaling.scale[i];
      const auto value = static_cast<float>(scaling.shift[i] + random.normal() * deviation);
      // What is left of a number of a file when its offset is subtracted.
      const double offset = scaling.offset_of(i);
      values.push_back(static_cast<float>(value + offset - offset));
    }
    for (const std::size_t size : tables) values.push_back(static_cast<float>(random.below(size)));
  }
  return {.num_rows = num_rows,
          .num_columns = static_cast<int64_t>(scaling.shift.size()),
          .values = std::move(values)};
}

std::vector<double> in_file_units(const Model& model, const data::Matrix& features) {
  const auto& values = std::get<Array<float>>(features.values);
  std::vector<double> numbers(values.begin(), values.end());
  const data::Scaling& scaling = model.schema.scaling;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] += scaling.offset_of(i % scaling.shift.size());
  }
  return numbers;
}

std::vector<double> expected_outputs(const Model& model, const data::Matrix& features,
                                     ExportOutputs outputs) {
  std::vector<float> scores;
  Predictor(model, /*num_threads=*/1).predict(within_limits(model.schema, features), scores);
  if (model.schema.task == config::Task::kRegression) return predicted_values(model, scores);
  if (outputs == ExportOutputs::kProbabilities) scores = probabilities(model, scores);
  return {scores.begin(), scores.end()};
}

}  // namespace trainer::apply
