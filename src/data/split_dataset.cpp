// SPDX-License-Identifier: Apache-2.0
#include "data/split_dataset.h"

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "trainer/config/data_config.h"

#include "data/labels.h"
#include "data/read_again.h"

namespace trainer::data {
namespace {

// `values` are `[num_rows, width]`, or none at all.
template <class T>
std::vector<T> take(const std::vector<T>& values, std::span<const int64_t> rows, size_t width = 1) {
  std::vector<T> taken;
  if (values.empty()) return taken;
  taken.reserve(rows.size() * width);
  for (const int64_t row : rows) {
    const auto begin = values.begin() + row * static_cast<int64_t>(width);
    taken.insert(taken.end(), begin, begin + static_cast<int64_t>(width));
  }
  return taken;
}

/// All but the features.
Dataset take_split(const Dataset& whole, std::span<const int64_t> rows) {
  const size_t num_targets = whole.values.size() / static_cast<size_t>(whole.size());
  return {{},
          take(whole.classes, rows),
          take(whole.values, rows, num_targets),
          take(whole.source_lines, rows),
          take(whole.weights, rows)};
}

/// The rows of the training split take the memory of the whole, so that the features, by far the
/// largest thing here, never exist twice.
Datasets split_whole(Dataset&& whole, const SplitIndices& split) {
  Datasets datasets;
  datasets.train = take_split(whole, split.train);
  datasets.validation = take_split(whole, split.validation);
  datasets.test = take_split(whole, split.test);
  datasets.validation.features = take_rows(whole.features, split.validation);
  datasets.test.features = take_rows(whole.features, split.test);
  keep_rows(whole.features, split.train);
  datasets.train.features = std::move(whole.features);
  return datasets;
}

}  // namespace

config::Task wanted_task(const config::DataConfig& data) {
  const bool has_labels =
      data.source == config::Source::kIdx || data.source == config::Source::kSynthetic;
  return has_labels && data.task == config::Task::kAuto ? config::Task::kClassification : data.task;
}

std::vector<int64_t> source_lines(std::vector<int64_t>&& lines, int64_t num_rows) {
  if (!lines.empty()) return std::move(lines);
  std::vector<int64_t> numbers(static_cast<size_t>(num_rows));
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

Datasets split_dataset(Table&& table, Matrix&& features, Target&& target,
                       const SplitIndices& split) {
  const int64_t num_rows = features.num_rows;
  Datasets datasets = split_whole({.features = std::move(features),
                                   .classes = std::move(target.classes),
                                   .values = std::move(target.values),
                                   .source_lines = source_lines(std::move(table.lines), num_rows),
                                   .weights = std::move(table.weights)},
                                  split);
  datasets.task_reason = std::move(target.task_reason);
  datasets.fingerprints = std::move(table.fingerprints);
  datasets.schema.task = target.task;
  datasets.schema.feature_names = std::move(table.feature_names);
  datasets.schema.target_names = std::move(table.target_names);
  datasets.schema.labels = std::move(target.labels);
  datasets.schema.target_scaling.offset = std::move(target.offsets);
  return datasets;
}

Datasets fit_and_split(Table&& table, config::Task wanted, const SplitOptions& options,
                       const Schema* trained) {
  Target target = infer_target(table, wanted, target_offsets(trained));
  require_labels_for_folds(table, target, options.folds);
  const SplitIndices split = split_rows(table.features.num_rows, target.classes, options);
  std::vector<double> offsets = std::move(table.offsets);
  Matrix features = std::move(table.features);
  Datasets datasets =
      split_dataset(std::move(table), std::move(features), std::move(target), split);
  datasets.schema.scaling.offset = std::move(offsets);
  return datasets;
}

}  // namespace trainer::data
