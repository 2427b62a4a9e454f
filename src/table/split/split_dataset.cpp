// SPDX-License-Identifier: Apache-2.0
#include "table/split/split_dataset.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/data_config.h"
#include "trainer/table/split/split.h"

#include "table/dataset.h"
#include "table/error.h"
#include "table/load_table.h"
#include "table/schema/fit_schema.h"
#include "table/schema/target.h"

namespace trainer::data {
namespace {

Dataset take_split(const Dataset& whole, std::span<const int64_t> rows) {
  const auto num_rows = static_cast<size_t>(whole.size());
  const auto take = [&](const auto& values) {  // or none at all
    return values.empty() ? values : take_rows(values, values.size() / num_rows, rows);
  };
  return {take_rows(whole.features, rows), take(whole.classes), take(whole.values),
          take(whole.source_lines),        take(whole.weights), take(whole.targets)};
}

void keep_split(Dataset& whole, std::span<const int64_t> rows) {
  const auto num_rows = static_cast<size_t>(whole.size());
  const auto keep = [&](auto& values) {  // or none at all
    if (!values.empty()) keep_rows(values, values.size() / num_rows, rows);
  };
  keep(whole.classes);
  keep(whole.values);
  keep(whole.source_lines);
  keep(whole.weights);
  keep_rows(whole.features, rows);
}

/// The rows of the training split take the memory of the whole, so that the features, by far the
/// largest thing here, never exist twice.
Datasets split_whole(Dataset&& whole, const SplitIndices& split) {
  Datasets datasets;
  datasets.validation = take_split(whole, split.validation);
  datasets.test = take_split(whole, split.test);
  whole.targets = {};
  keep_split(whole, split.train);
  datasets.train = std::move(whole);
  return datasets;
}

}  // namespace

config::Task wanted_task(const config::DataConfig& data) {
  const bool has_labels =
      data.source == config::Source::kIdx || data.source == config::Source::kSynthetic;
  return has_labels && data.task == config::Task::kAuto ? config::Task::kClassification : data.task;
}

Array<int64_t> source_lines(Array<int64_t>&& lines, int64_t num_rows) {
  if (!lines.empty()) return std::move(lines);
  Array<int64_t> numbers(static_cast<size_t>(num_rows));
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

Datasets split_dataset(Table&& table, Matrix&& features, Target&& target, const SplitIndices& split,
                       std::span<const int64_t> fit_rows, const config::DataConfig& data,
                       Schema&& schema) {
  const TimedStage timed(Stage::kEncode);
  schema.task = target.task;
  schema.target_names = std::move(table.target_names);
  schema.labels = std::move(target.labels);
  schema.target_scaling.offset = std::move(target.offsets);
  const int64_t num_rows = features.num_rows;
  Dataset whole{.features = std::move(features),
                .classes = std::move(target.classes),
                .values = std::move(target.values),
                .source_lines = source_lines(std::move(table.lines), num_rows),
                .weights = std::move(table.weights),
                .targets = std::move(target.numbers)};
  fit_schema(whole, fit_rows, data, schema);
  if (schema.task == config::Task::kRegression) scale(schema.target_scaling, whole.values);
  Datasets datasets = split_whole(std::move(whole), split);
  datasets.schema = std::move(schema);
  datasets.task_reason = std::move(target.task_reason);
  datasets.warnings = std::move(target.warnings);
  datasets.fingerprints = std::move(table.fingerprints);
  return datasets;
}

Datasets fit_and_split(Table&& table, const config::DataConfig& data, const SplitOptions& options,
                       const Schema* trained) {
  Target target = infer_target(table, wanted_task(data), target_offsets(trained));
  choose_positive(table, data.positive, target);
  require_labels_for_folds(table, target, options.folds);
  const SplitIndices split = split_table(table, target, data, options);
  Schema schema;
  schema.feature_names = std::move(table.feature_names);
  schema.scaling.offset = std::move(table.offsets);
  Matrix features = std::move(table.features);
  Array<int64_t> merged;
  const std::span<const int64_t> fit_rows = rows_to_fit(split, data, merged);
  return split_dataset(std::move(table), std::move(features), std::move(target), split, fit_rows,
                       data, std::move(schema));
}

SplitIndices split_table(const Table& table, const Target& target, const config::DataConfig& data,
                         const SplitOptions& options) {
  const TimedStage timed(Stage::kSplit);
  if (!table.times.empty()) {
    SplitIndices split = split_by_time(table.times, options);
    require_labels_in_training(table, target, split, data);
    return split;
  }
  if (table.splits.empty() && table.groups.empty()) {
    SplitIndices split = split_rows(table.features.num_rows, target.classes, options);
    // Fractions leave a row of each label for training, folds may not.
    if (options.validation_folds > 0) require_labels_in_training(table, target, split, data);
    return split;
  }
  SplitIndices split =
      table.splits.empty() ? split_groups(table.groups, options) : split_by_column(table.splits);
  if (split.train.empty()) {
    throw data_error(table.file,
                     fmt::format("column {}: expected at least one row with train, got none",
                                 in_quotes(data.split_column)));
  }
  require_labels_in_training(table, target, split, data);
  return split;
}

namespace {

/// How much a row of each class counts, so that all classes count alike: n / (classes * n of it).
std::vector<double> balanced_weights(std::span<const int64_t> classes, size_t num_classes) {
  std::vector<double> weights(num_classes);
  for (const int64_t label : classes) ++weights[static_cast<size_t>(label)];
  for (double& weight : weights) {
    weight = static_cast<double>(classes.size()) / (static_cast<double>(num_classes) * weight);
  }
  return weights;
}

void add_class_weights(Dataset& split, const std::vector<double>& class_weights) {
  if (split.weights.empty()) split.weights.resize(split.classes.size(), 1.0F);
  for (size_t row = 0; row < split.weights.size(); ++row) {
    const double factor = class_weights[static_cast<size_t>(split.classes[row])];
    split.weights[row] = static_cast<float>(split.weights[row] * factor);
  }
}

// A mean of losses over rows is then the weighted mean.
void make_mean_one(Dataset& split) {
  if (split.weights.empty()) return;
  const double sum = std::accumulate(split.weights.begin(), split.weights.end(), 0.0);
  const double factor = static_cast<double>(split.weights.size()) / sum;
  for (float& weight : split.weights) weight = static_cast<float>(weight * factor);
}

}  // namespace

void weigh_rows(Datasets& datasets, const config::DataConfig& data) {
  if (data.class_weights == config::ClassWeights::kBalanced) {
    if (datasets.schema.task == config::Task::kRegression) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("data.class_weights: balanced requires classes, but the target {} is "
                              "numeric; remove it or set data.task: classification",
                              joined(datasets.schema.target_names)));
    }
    const std::vector<double> class_weights =
        balanced_weights(datasets.train.classes, datasets.schema.labels.size());
    // The others count as any other rows with these classes would be.
    add_class_weights(datasets.train, class_weights);
  }
  make_mean_one(datasets.train);
  make_mean_one(datasets.validation);
  make_mean_one(datasets.test);
}

namespace {

int64_t rows_of_split(const char* key, double fraction, int64_t num_rows) {
  const int64_t count = std::llround(fraction * static_cast<double>(num_rows));
  if (fraction > 0 && count == 0) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: {} of {} rows is less than one row; use more data, a larger "
                            "fraction or 0",
                            key, shortest(fraction), with_thousands(num_rows)));
  }
  return count;
}

}  // namespace

SplitSizes split_sizes(int64_t num_rows, const SplitOptions& options) {
  const SplitSizes sizes = {
      .validation =
          rows_of_split("data.validation_fraction", options.validation_fraction, num_rows),
      .test = rows_of_split("data.test_fraction", options.test_fraction, num_rows)};
  if (sizes.validation + sizes.test >= num_rows) {
    throw Error(
        ErrorKind::kData,
        fmt::format("no rows left for training: of {} rows, {} are for validation and {} for test; "
                    "use more data or a smaller data.validation_fraction and data.test_fraction",
                    with_thousands(num_rows), with_thousands(sizes.validation),
                    with_thousands(sizes.test)));
  }
  return sizes;
}

int64_t validation_rows(int64_t num_rows, const SplitOptions& options) {
  return split_sizes(num_rows, {.validation_fraction = options.validation_fraction,
                                .test_fraction = 0,
                                .seed = options.seed})
      .validation;
}

}  // namespace trainer::data
