// SPDX-License-Identifier: Apache-2.0
#include "table/split/split_dataset.h"

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "trainer/base/time/time_scopes.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/data_config.h"

#include "table/array_rows.h"
#include "table/read_again.h"
#include "table/schema/fit_schema.h"
#include "table/schema/labels.h"
#include "table/split/split_table.h"

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

}  // namespace trainer::data
