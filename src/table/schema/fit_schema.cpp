// SPDX-License-Identifier: Apache-2.0
// Scalings are fitted to rows of the whole table in its order, before it is split: the members of
// an ensemble, each with another validation split, thereby get the same bits.
#include "table/schema/fit_schema.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "trainer/config/data_config.h"

namespace trainer::data {
namespace {

/// What is 0 or 1 stays so, categories and marks of missing cells, and so do numbers of categories.
void keep_unscaled(Schema& schema, bool scale_categories) {
  const std::vector<int64_t> first = first_features(schema.columns);
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (column.kind == ColumnKind::kCategorical && !is_embedded(column) && scale_categories) {
      continue;
    }
    auto feature = static_cast<size_t>(first[i]);
    const size_t end = feature + static_cast<size_t>(num_features(column));
    if (column.kind == ColumnKind::kNumeric) ++feature;
    for (; feature < end; ++feature) {
      schema.scaling.shift[feature] = 0;
      schema.scaling.scale[feature] = 1;
      if (!schema.scaling.inverse_limit.empty()) schema.scaling.inverse_limit[feature] = 0;
    }
  }
}

void fit(Scaling& scaling, const Matrix& values, std::span<const int64_t> rows,
         config::ScalingMethod method) {
  Scaling fitted = fit_scaling(values, rows, method);
  fitted.offset = std::move(scaling.offset);
  scaling = std::move(fitted);
}

void fit_features(const Dataset& whole, std::span<const int64_t> rows,
                  const config::DataConfig& data, Schema& schema) {
  fit(schema.scaling, whole.features, rows, data.scaling);
  if (data.smooth_clip > 0) {
    schema.scaling.inverse_limit.assign(schema.feature_names.size(),
                                        static_cast<float>(1 / data.smooth_clip));
  }
  keep_unscaled(schema, data.scale_categories);
}

void fit_classes(const Dataset& whole, std::span<const int64_t> rows, Schema& schema) {
  schema.target_means.resize(schema.labels.size());
  for (const int64_t row : rows) {
    ++schema.target_means[static_cast<size_t>(whole.classes[static_cast<size_t>(row)])];
  }
  for (double& mean : schema.target_means) mean /= static_cast<double>(rows.size());
}

// Predictions stay within the range of scaled targets.
void limit_predictions(Schema& schema, const Matrix& targets, std::span<const int64_t> rows) {
  const auto num_targets = static_cast<size_t>(schema.num_targets());
  Array<float> values = std::get<Array<float>>(take_rows(targets, rows).values);
  scale(schema.target_scaling, values);
  schema.target_low.assign(values.begin(), values.begin() + schema.num_targets());
  schema.target_high = schema.target_low;
  for (size_t i = 0; i < values.size(); ++i) {
    float& low = schema.target_low[i % num_targets];
    float& high = schema.target_high[i % num_targets];
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
}

void fit_numbers(const Dataset& whole, std::span<const int64_t> rows,
                 const config::DataConfig& data, Schema& schema) {
  const auto num_targets = static_cast<size_t>(schema.num_targets());
  const Matrix targets{
      .num_rows = whole.size(), .num_columns = schema.num_targets(), .values = whole.values};
  schema.target_means.resize(num_targets);
  for (const int64_t row : rows) {
    for (size_t i = 0; i < num_targets; ++i) {
      schema.target_means[i] +=
          static_cast<double>(whole.values[static_cast<size_t>(row) * num_targets + i]);
    }
  }
  for (size_t i = 0; i < num_targets; ++i) {
    schema.target_means[i] = schema.target_means[i] / static_cast<double>(rows.size()) +
                             schema.target_scaling.offset_of(i);
  }
  fit(schema.target_scaling, targets, rows, data.target_scaling);
  // One that is constant in these rows has to be predicted all the same.
  std::replace(schema.target_scaling.scale.begin(), schema.target_scaling.scale.end(), 0.0F, 1.0F);
  if (data.clip_predictions) limit_predictions(schema, targets, rows);
}

}  // namespace

std::span<const int64_t> rows_to_fit(const SplitIndices& split, const config::DataConfig& data,
                                     Array<int64_t>& merged) {
  if (data.fit_on == config::FitOn::kTrain) return split.train;
  const auto add = [&](const Array<int64_t>& more) {
    Array<int64_t> both(merged.size() + more.size());
    std::merge(merged.begin(), merged.end(), more.begin(), more.end(), both.begin());
    merged = std::move(both);
  };
  merged = split.train;
  add(split.validation);
  if (data.fit_on == config::FitOn::kAll) add(split.test);
  return merged;
}

void fit_schema(const Dataset& whole, std::span<const int64_t> rows, const config::DataConfig& data,
                Schema& schema) {
  fit_features(whole, rows, data, schema);
  if (schema.task == config::Task::kClassification) {
    fit_classes(whole, rows, schema);
  } else {
    fit_numbers(whole, rows, data, schema);
  }
}

}  // namespace trainer::data
