// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/dataset.h"

#include <cstddef>
#include <type_traits>
#include <variant>

#include "trainer/config/data_config.h"
#include "trainer/config/recipe.h"
#include "trainer/table/source/synthetic.h"

#include "table/load_table.h"
#include "table/split/split_dataset.h"

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
                       data, options, trained);
}

Datasets load_source(const config::DataConfig& data, const SplitOptions& options,
                     const Schema* trained) {
  switch (data.source) {
    case config::Source::kCsv:
    case config::Source::kQuery:
      return load_table(data, options, trained);
    case config::Source::kIdx:
      return load_idx(data, options, trained);
    case config::Source::kNpy:
      return load_npy(data, options, trained);
    case config::Source::kSynthetic:
      break;
  }
  return load_synthetic(data, options, trained);
}

void append(const Matrix& from, Matrix& to) {
  std::visit(
      [&](const auto& values) {
        using Values = std::decay_t<decltype(values)>;
        if (to.num_rows == 0) to.values = Values();
        std::get<Values>(to.values).append(values.begin(), values.end());
      },
      from.values);
  to.num_columns = from.num_columns;
  to.num_rows += from.num_rows;
}

}  // namespace

void append_rows(const Dataset& from, Dataset& to) {
  append(from.features, to.features);
  to.classes.append(from.classes.begin(), from.classes.end());
  to.values.append(from.values.begin(), from.values.end());
  to.source_lines.append(from.source_lines.begin(), from.source_lines.end());
  to.weights.append(from.weights.begin(), from.weights.end());
  to.targets.append(from.targets.begin(), from.targets.end());
}

void limit_outputs(const Schema& schema, std::span<float> outputs) {
  const size_t num_limits = schema.target_low.size();
  if (num_limits == 0) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = limited(outputs[i], {.low = schema.target_low[i % num_limits],
                                      .high = schema.target_high[i % num_limits]});
  }
}

std::vector<double> predicted_values(const Schema& schema, std::span<const float> outputs) {
  std::vector<float> within(outputs.begin(), outputs.end());
  limit_outputs(schema, within);
  return unscaled(schema.target_scaling, within);
}

std::vector<float> scaled_targets(const Schema& schema, std::span<const double> values) {
  std::vector<float> scaled(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double offset = schema.target_scaling.offset_of(i % schema.target_names.size());
    scaled[i] = static_cast<float>(values[i] - offset);
  }
  scale(schema.target_scaling, scaled);
  return scaled;
}

std::vector<double> true_values(const Schema& schema, const Dataset& rows) {
  if (rows.targets.empty()) return unscaled(schema.target_scaling, rows.values);
  return {rows.targets.begin(), rows.targets.end()};
}

config::DataFacts recipe_facts(const Datasets& data) {
  return {.task = data.schema.task, .num_train = data.train.size()};
}

Datasets load_datasets(const config::DataConfig& data, uint64_t seed, const Schema* trained) {
  const config::DataConfig resolved = as_in_run(data, trained);
  const double test_fraction = resolved.folds > 0 ? 0 : resolved.test_fraction;
  const double validation_fraction =
      resolved.validation_folds > 0 ? 0 : resolved.validation_fraction;
  Datasets datasets = load_source(resolved,
                                  {.validation_fraction = validation_fraction,
                                   .test_fraction = test_fraction,
                                   .seed = seed,
                                   .folds = resolved.folds,
                                   .fold = resolved.fold,
                                   .repeat = static_cast<uint64_t>(resolved.repeat - 1),
                                   .validation_folds = resolved.validation_folds,
                                   .validation_fold = resolved.validation_fold},
                                  trained);
  weigh_rows(datasets, resolved);
  return datasets;
}

}  // namespace trainer::data
