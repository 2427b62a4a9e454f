// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/dataset.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "trainer/config/data_config.h"
#include "trainer/config/recipe.h"
#include "trainer/data/synthetic.h"

#include "data/load_arrays.h"
#include "data/load_csv.h"
#include "data/read_again.h"
#include "data/row_weights.h"
#include "data/split_dataset.h"

namespace trainer::data {
namespace {

Datasets load_synthetic(const config::DataConfig& data, const SplitOptions& options,
                        const Schema* trained) {
  const config::SyntheticConfig& synthetic = data.synthetic;
  return fit_and_split(make_synthetic({.num_samples = synthetic.num_samples,
                                       .num_features = synthetic.num_features,
                                       .num_classes = synthetic.num_classes,
                                       .separation = synthetic.separation,
                                       .seed = options.seed}),
                       wanted_task(data), options, trained);
}

Datasets load_source(const config::DataConfig& data, const SplitOptions& options,
                     const Schema* trained) {
  switch (data.source) {
    case config::Source::kCsv:
      return load_csv(data, options, trained);
    case config::Source::kIdx:
      return load_idx(data, options, trained);
    case config::Source::kNpy:
      return load_npy(data, options, trained);
    case config::Source::kSynthetic:
      break;
  }
  return load_synthetic(data, options, trained);
}

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

void fit_target_means(Datasets& datasets) {
  const Dataset& train = datasets.train;
  Schema& schema = datasets.schema;
  const auto num_rows = static_cast<double>(train.size());
  if (schema.task == config::Task::kClassification) {
    schema.target_means.resize(schema.labels.size());
    for (const int64_t label : train.classes) ++schema.target_means[static_cast<size_t>(label)];
  } else {
    schema.target_means.resize(schema.target_names.size());
    for (size_t i = 0; i < train.values.size(); ++i) {
      schema.target_means[i % schema.target_means.size()] += static_cast<double>(train.values[i]);
    }
  }
  for (double& mean : schema.target_means) mean /= num_rows;
  if (schema.task == config::Task::kClassification) return;
  for (size_t i = 0; i < schema.target_means.size(); ++i) {
    schema.target_means[i] += schema.target_scaling.offset_of(i);
  }
}

void fit(Scaling& scaling, const Matrix& values, config::ScalingMethod method) {
  Scaling fitted = fit_scaling(values, method);
  fitted.offset = std::move(scaling.offset);
  scaling = std::move(fitted);
}

// Predictions stay within the range of `values` `[n, num_targets]`.
void limit_predictions(Schema& schema, std::span<const float> values) {
  const auto num_targets = static_cast<size_t>(schema.num_targets());
  schema.target_low.assign(values.begin(), values.begin() + schema.num_targets());
  schema.target_high = schema.target_low;
  for (size_t i = 0; i < values.size(); ++i) {
    float& low = schema.target_low[i % num_targets];
    float& high = schema.target_high[i % num_targets];
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
}

void fit_target_scaling(Datasets& datasets, config::ScalingMethod method, bool clip) {
  Schema& schema = datasets.schema;
  if (schema.task == config::Task::kClassification) return;
  Matrix targets{.num_rows = datasets.train.size(),
                 .num_columns = schema.num_targets(),
                 .values = std::move(datasets.train.values)};
  fit(schema.target_scaling, targets, method);
  datasets.train.values = std::get<std::vector<float>>(std::move(targets.values));
  for (Dataset* split : {&datasets.train, &datasets.validation, &datasets.test}) {
    scale(schema.target_scaling, split->values);
  }
  if (clip) limit_predictions(schema, datasets.train.values);
}

}  // namespace

std::vector<double> predicted_values(const Schema& schema, std::span<const float> outputs) {
  const size_t num_limits = schema.target_low.size();
  if (num_limits == 0) return unscaled(schema.target_scaling, outputs);
  std::vector<float> within(outputs.begin(), outputs.end());
  for (size_t i = 0; i < within.size(); ++i) {
    within[i] = limited(within[i], {.low = schema.target_low[i % num_limits],
                                    .high = schema.target_high[i % num_limits]});
  }
  return unscaled(schema.target_scaling, within);
}

config::DataFacts recipe_facts(const Datasets& data) {
  return {.task = data.schema.task, .num_train = data.train.size()};
}

Datasets load_datasets(const config::DataConfig& data, uint64_t seed, const Schema* trained) {
  const config::DataConfig resolved = as_in_run(data, trained);
  const double test_fraction = resolved.folds > 0 ? 0 : resolved.test_fraction;
  Datasets datasets = load_source(resolved,
                                  {.validation_fraction = resolved.validation_fraction,
                                   .test_fraction = test_fraction,
                                   .seed = seed,
                                   .folds = resolved.folds,
                                   .fold = resolved.fold,
                                   .repeat = static_cast<uint64_t>(resolved.repeat - 1)},
                                  trained);
  fit(datasets.schema.scaling, datasets.train.features, resolved.scaling);
  if (resolved.smooth_clip > 0) {
    datasets.schema.scaling.inverse_limit.assign(datasets.schema.feature_names.size(),
                                                 static_cast<float>(1 / resolved.smooth_clip));
  }
  keep_unscaled(datasets.schema, resolved.scale_categories);
  fit_target_means(datasets);
  fit_target_scaling(datasets, resolved.target_scaling, resolved.clip_predictions);
  weigh_rows(datasets, resolved);
  return datasets;
}

}  // namespace trainer::data
