// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/dataset.h"

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/text.h"
#include "trainer/data/csv.h"
#include "trainer/data/idx.h"
#include "trainer/data/split.h"
#include "trainer/data/synthetic.h"

#include "data/file_bytes.h"
#include "data/labels.h"

namespace trainer::data {
namespace {

template <class T>
std::vector<T> take(const std::vector<T>& values, std::span<const int64_t> rows) {
  std::vector<T> taken;
  if (values.empty()) return taken;  // of the other task
  taken.reserve(rows.size());
  for (const int64_t row : rows) taken.push_back(values[static_cast<size_t>(row)]);
  return taken;
}

Dataset take_part(const Dataset& whole, std::span<const int64_t> rows) {
  return {take_rows(whole.features, rows), take(whole.classes, rows), take(whole.values, rows),
          take(whole.places, rows)};
}

std::vector<int64_t> places_of(Table& table) {
  if (!table.lines.empty()) return std::move(table.lines);
  std::vector<int64_t> places(static_cast<size_t>(table.features.num_rows));
  std::iota(places.begin(), places.end(), 1);
  return places;
}

/// The rows of the training part take the place of the whole, so that the features, by far the
/// largest thing here, never exist twice.
Datasets divide(Dataset whole, const Split& split) {
  Datasets parts;
  parts.validation = take_part(whole, split.validation);
  parts.test = take_part(whole, split.test);
  keep_rows(whole.features, split.train);
  parts.train.features = std::move(whole.features);
  parts.train.classes = take(whole.classes, split.train);
  parts.train.values = take(whole.values, split.train);
  parts.train.places = take(whole.places, split.train);
  return parts;
}

/// What task a source has by itself: only a table leaves it open.
config::Task wanted_task(const config::DataConfig& data) {
  const bool open = data.task == config::Task::kAuto && data.source != config::Source::kCsv;
  return open ? config::Task::kClassification : data.task;
}

Datasets learn_and_divide(Table table, config::Task wanted, const SplitOptions& options) {
  Target target = learn_target(table, wanted);
  const Split split = split_rows(table.features.num_rows, target.classes, options);
  std::vector<int64_t> places = places_of(table);
  Datasets datasets = divide({std::move(table.features), std::move(target.classes),
                              std::move(target.values), std::move(places)},
                             split);
  datasets.schema.task = target.task;
  datasets.schema.feature_names = std::move(table.feature_names);
  datasets.schema.target_name = std::move(table.target_name);
  datasets.schema.labels = std::move(target.labels);
  datasets.fingerprints = std::move(table.fingerprints);
  return datasets;
}

Dataset apply_schema(Table table, const Schema& schema, const std::string& origin) {
  Dataset dataset;
  if (schema.task == config::Task::kClassification) {
    dataset.classes = encode_labels(table, schema.labels, origin);
  } else {
    dataset.values = target_values(table);
  }
  dataset.places = places_of(table);
  dataset.features = std::move(table.features);
  return dataset;
}

Datasets load_synthetic(const config::DataConfig& data, const SplitOptions& options) {
  const config::SyntheticConfig& synthetic = data.synthetic;
  return learn_and_divide(
      make_synthetic({synthetic.num_samples, synthetic.num_features, synthetic.num_classes,
                      synthetic.separation, options.seed}),
      wanted_task(data), options);
}

Datasets load_csv(const config::DataConfig& data, const SplitOptions& options) {
  const char delimiter = csv_delimiter(data.delimiter, data.path);
  return learn_and_divide(read_csv(data.path, {data.target, data.ignore, delimiter}),
                          wanted_task(data), options);
}

Datasets load_idx(const config::DataConfig& data, SplitOptions options) {
  const config::IdxConfig& files = data.idx;
  const bool has_test = !files.test_images.empty();
  if (has_test) options.test_fraction = 0;
  Datasets datasets = learn_and_divide(read_idx_pair(files.train_images, files.train_labels),
                                       wanted_task(data), options);
  if (!has_test) return datasets;

  Table test = read_idx_pair(files.test_images, files.test_labels);
  if (test.features.num_columns != datasets.schema.num_features()) {
    throw data_error(files.test_images,
                     fmt::format("images of {} pixels, but those of {} have {}",
                                 with_thousands(test.features.num_columns), files.train_images,
                                 with_thousands(datasets.schema.num_features())));
  }
  datasets.fingerprints.insert(datasets.fingerprints.end(), test.fingerprints.begin(),
                               test.fingerprints.end());
  datasets.test = apply_schema(std::move(test), datasets.schema, files.train_labels);
  return datasets;
}

Datasets load_source(const config::DataConfig& data, const SplitOptions& options) {
  switch (data.source) {
    case config::Source::kCsv:
      return load_csv(data, options);
    case config::Source::kIdx:
      return load_idx(data, options);
    case config::Source::kSynthetic:
      break;
  }
  return load_synthetic(data, options);
}

}  // namespace

Datasets load_datasets(const config::DataConfig& data, uint64_t seed) {
  Datasets datasets = load_source(data, {data.validation_fraction, data.test_fraction, seed});
  datasets.schema.scaling = fit_scaling(datasets.train.features, data.scaling);
  return datasets;
}

}  // namespace trainer::data
