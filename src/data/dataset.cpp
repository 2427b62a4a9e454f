// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/dataset.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "trainer/config/data_config.h"
#include "trainer/core/error.h"
#include "trainer/core/format.h"
#include "trainer/data/columns.h"
#include "trainer/data/csv.h"
#include "trainer/data/idx.h"
#include "trainer/data/npy.h"
#include "trainer/data/split.h"
#include "trainer/data/synthetic.h"

#include "data/column_notes.h"
#include "data/error.h"
#include "data/labels.h"
#include "data/outliers.h"
#include "data/read_again.h"
#include "data/row_weights.h"
#include "data/split_table.h"
#include "data/target_copies.h"

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
Dataset take_part(const Dataset& whole, std::span<const int64_t> rows) {
  const size_t num_targets = whole.values.size() / static_cast<size_t>(whole.size());
  return {{},
          take(whole.classes, rows),
          take(whole.values, rows, num_targets),
          take(whole.places, rows),
          take(whole.weights, rows)};
}

std::vector<int64_t> places_of(Table& table) {
  if (!table.lines.empty()) return std::move(table.lines);
  std::vector<int64_t> places(table.targets.size() / table.target_names.size());
  std::iota(places.begin(), places.end(), 1);
  return places;
}

/// The rows of the training part take the place of the whole, so that the features, by far the
/// largest thing here, never exist twice.
Datasets divide(Dataset whole, const Split& split) {
  Datasets parts;
  parts.train = take_part(whole, split.train);
  parts.validation = take_part(whole, split.validation);
  parts.test = take_part(whole, split.test);
  parts.validation.features = take_rows(whole.features, split.validation);
  parts.test.features = take_rows(whole.features, split.test);
  keep_rows(whole.features, split.train);
  parts.train.features = std::move(whole.features);
  return parts;
}

/// What task a source has by itself: tables and arrays leave it open.
config::Task wanted_task(const config::DataConfig& data) {
  const bool has_labels =
      data.source == config::Source::kIdx || data.source == config::Source::kSynthetic;
  return has_labels && data.task == config::Task::kAuto ? config::Task::kClassification : data.task;
}

/// Divides the features, which `table` need not hold any more, and says what is known of the rest.
Datasets divide_table(Table& table, Matrix features, Target target, const Split& split) {
  std::vector<int64_t> places = places_of(table);
  Datasets datasets =
      divide({std::move(features), std::move(target.classes), std::move(target.values),
              std::move(places), std::move(table.weights)},
             split);
  datasets.schema.task = target.task;
  datasets.task_reason = std::move(target.task_reason);
  datasets.schema.feature_names = std::move(table.feature_names);
  datasets.schema.target_names = std::move(table.target_names);
  datasets.schema.labels = std::move(target.labels);
  datasets.schema.target_scaling.offset = std::move(target.offsets);
  datasets.fingerprints = std::move(table.fingerprints);
  return datasets;
}

Datasets learn_and_divide(Table table, config::Task wanted, const SplitOptions& options,
                          const Schema* trained) {
  Target target = learn_target(table, wanted, target_offsets(trained));
  require_labels_for_folds(table, target, options.folds);
  const Split split = split_rows(table.features.num_rows, target.classes, options);
  std::vector<double> offsets = std::move(table.offsets);
  Datasets datasets = divide_table(table, std::move(table.features), std::move(target), split);
  datasets.schema.scaling.offset = std::move(offsets);
  return datasets;
}

void scale_targets(std::vector<float>& values, const Scaling& scaling) {
  const size_t num_targets = scaling.shift.size();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = (values[i] - scaling.shift[i % num_targets]) * scaling.scale[i % num_targets];
  }
}

Dataset apply_schema(Table& table, Matrix features, const Schema& schema,
                     const std::string& origin) {
  Dataset dataset;
  if (schema.task == config::Task::kClassification) {
    dataset.classes = encode_labels(table, schema.labels, origin);
  } else {
    dataset.values = target_values(table, schema.target_scaling.offset);
  }
  dataset.features = std::move(features);
  dataset.places = places_of(table);
  dataset.weights = std::move(table.weights);
  return dataset;
}

Datasets load_synthetic(const config::DataConfig& data, const SplitOptions& options,
                        const Schema* trained) {
  const config::SyntheticConfig& synthetic = data.synthetic;
  return learn_and_divide(
      make_synthetic({synthetic.num_samples, synthetic.num_features, synthetic.num_classes,
                      synthetic.separation, options.seed}),
      wanted_task(data), options, trained);
}

void warn_of_unknown(Datasets& datasets, const std::vector<int64_t>& num_unknown,
                     const std::string& part) {
  for (std::string& line : describe_unknown(datasets.schema.columns, num_unknown, part)) {
    datasets.warnings.push_back(std::move(line));
  }
}

/// A size that is used by nothing would be a run that is not what its user believes.
void require_embedding(const std::vector<Column>& columns, const config::DataConfig& data) {
  if (data.embedding_size == 0 || std::any_of(columns.begin(), columns.end(), is_embedded)) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("data.embedding_size: has no effect: no categorical column has more than "
                          "{} categories (data.embed_above); lower that or remove this",
                          with_thousands(data.embed_above)));
}

/// A part that has a file of its own.
Dataset load_part(const std::string& path, const config::DataConfig& data, const std::string& part,
                  Datasets& datasets) {
  const Schema& schema = datasets.schema;
  Table table = read_csv_as(path,
                            {.columns = schema.columns,
                             .targets = data.target,
                             .weight = data.weight,
                             .drop_rows_without_target = data.drop_rows_without_target},
                            csv_format(data, path));
  datasets.num_without_target += table.num_without_target;
  std::vector<int64_t> num_unknown;
  Dataset dataset = dataset_as_trained(table, schema, data.path, num_unknown);
  warn_of_unknown(datasets, num_unknown, part);
  datasets.fingerprints.push_back(table.fingerprints.front());
  return dataset;
}

Datasets load_csv(const config::DataConfig& data, SplitOptions options, const Schema* trained) {
  if (!data.validation_path.empty()) options.validation_fraction = 0;
  if (!data.test_path.empty()) options.test_fraction = 0;
  Table table =
      read_csv(data.path, {.targets = data.target,
                           .ignored = data.ignore,
                           .format = csv_format(data, data.path),
                           .id = data.id,
                           .numeric = data.numeric,
                           .categorical = data.categorical,
                           .max_categories = data.max_categories,
                           .fill = data.fill,
                           .split_column = data.split_column,
                           .group = data.group,
                           .weight = data.weight,
                           .time = data.time,
                           .drop_rows_without_target = data.drop_rows_without_target,
                           .with_offsets = trained == nullptr ? nullptr : &trained->columns});
  Target target = learn_target(table, wanted_task(data), target_offsets(trained));
  require_other_names(table, target);
  const bool deals_rows_out = table.groups.empty() && table.times.empty();
  if (deals_rows_out) require_labels_for_folds(table, target, options.folds);
  const Split split = split_table(table, target, data, options);
  const std::vector<std::string> copies = find_target_copies(table, target);
  std::vector<std::string> limited;
  if (data.outliers == config::Outliers::kClip) limited = limit_columns(table, split.train);
  std::vector<std::string> outliers;
  if (data.outliers != config::Outliers::kIgnore) outliers = describe_outliers(table, target, data);
  table.targets = {};  // they are numbers now, and 32 bytes each as text
  std::vector<Column> columns =
      fit_columns(table, split.train,
                  {.fill = data.fill,
                   .fill_value = data.fill_value,
                   .missing_indicator = data.missing_indicator,
                   .embed_above = data.embed_above,
                   .embedding_size = data.embedding_size,
                   .quantiles = data.scaling == config::ScalingMethod::kQuantile});
  require_embedding(columns, data);
  std::vector<std::string> notes = describe_columns(table, columns, data.fill);
  Encoded encoded = encode(columns, data.unknown_category, table);
  Datasets datasets = divide_table(table, std::move(encoded.features), std::move(target), split);
  datasets.notes = std::move(notes);
  datasets.num_column_notes = std::max<int64_t>(0, std::ssize(datasets.notes) - 1);
  datasets.warnings = std::move(outliers);
  datasets.target_copies = copies;
  for (const std::vector<std::string>& lines : {limited, copies}) {
    datasets.notes.insert(datasets.notes.end(), lines.begin(), lines.end());
  }
  datasets.schema.feature_names = feature_names(columns);
  datasets.schema.columns = std::move(columns);
  datasets.schema.scaling.offset = feature_offsets(datasets.schema.columns);
  datasets.schema.unknown_category = data.unknown_category;
  datasets.schema.missing = data.missing;
  datasets.num_without_target += table.num_without_target;
  for (std::string& note : find_useless_columns(datasets.train.features, datasets.schema.columns)) {
    datasets.notes.push_back(std::move(note));
  }
  warn_of_unknown(datasets, encoded.num_unknown, "the validation and test parts");
  if (!data.validation_path.empty()) {
    datasets.validation = load_part(data.validation_path, data, "data.validation_path", datasets);
  }
  if (!data.test_path.empty()) {
    datasets.test = load_part(data.test_path, data, "data.test_path", datasets);
  }
  return datasets;
}

/// Features and targets in files of their own.
struct FilePair {
  std::string features;
  std::string targets;
};

/// `test` may be empty.
template <class Read>
Datasets load_pairs(const config::DataConfig& data, SplitOptions options, const Schema* trained,
                    const FilePair& train, const FilePair& test, const Read& read) {
  const bool has_test = !test.features.empty();
  if (has_test) options.test_fraction = 0;
  Datasets datasets = learn_and_divide(
      read(train.features, train.targets, trained == nullptr ? nullptr : &trained->scaling.offset),
      wanted_task(data), options, trained);
  if (!has_test) return datasets;

  const Schema& schema = datasets.schema;
  Table table = read(test.features, test.targets, &schema.scaling.offset);
  const auto require_equal = [](const std::string& file, const char* what, int64_t got,
                                const std::string& train_file, int64_t expected) {
    if (got == expected) return;
    throw data_error(
        file, fmt::format("expected {} {} in a row, as {} has, got {}", with_thousands(expected),
                          what, train_file, with_thousands(got)));
  };
  require_equal(test.features, "features", table.features.num_columns, train.features,
                schema.num_features());
  require_equal(test.targets, "targets", static_cast<int64_t>(table.target_names.size()),
                train.targets, schema.num_targets());
  datasets.fingerprints.insert(datasets.fingerprints.end(), table.fingerprints.begin(),
                               table.fingerprints.end());
  datasets.test = apply_schema(table, std::move(table.features), schema, train.targets);
  return datasets;
}

Datasets load_idx(const config::DataConfig& data, const SplitOptions& options,
                  const Schema* trained) {
  const config::IdxConfig& files = data.idx;
  // Bytes have no offsets.
  const auto read = [](const std::string& images, const std::string& labels,
                       const std::vector<double>*) { return read_idx_pair(images, labels); };
  return load_pairs(data, options, trained, {files.train_images, files.train_labels},
                    {files.test_images, files.test_labels}, read);
}

Datasets load_npy(const config::DataConfig& data, const SplitOptions& options,
                  const Schema* trained) {
  const config::NpyConfig& files = data.npy;
  return load_pairs(data, options, trained, {files.features, files.targets},
                    {files.test_features, files.test_targets}, read_npy_pair);
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
void keep_unscaled(Schema& schema) {
  const std::vector<int64_t> first = first_features(schema.columns);
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    auto feature = static_cast<size_t>(first[i]);
    const size_t end = feature + static_cast<size_t>(num_features(column));
    if (column.kind == ColumnKind::kNumeric) ++feature;
    for (; feature < end; ++feature) {
      schema.scaling.shift[feature] = 0;
      schema.scaling.scale[feature] = 1;
    }
  }
}

void learn_target_means(Datasets& datasets) {
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

void learn_target_scaling(Datasets& datasets, config::ScalingMethod method) {
  Schema& schema = datasets.schema;
  if (schema.task == config::Task::kClassification) return;
  Matrix targets{datasets.train.size(), schema.num_targets(), std::move(datasets.train.values)};
  fit(schema.target_scaling, targets, method);
  datasets.train.values = std::get<std::vector<float>>(std::move(targets.values));
  for (Dataset* part : {&datasets.train, &datasets.validation, &datasets.test}) {
    scale_targets(part->values, schema.target_scaling);
  }
}

}  // namespace

Datasets load_datasets(const config::DataConfig& data, uint64_t seed, const Schema* trained) {
  const config::DataConfig resolved = as_in_run(data, trained);
  const double test_fraction = resolved.folds > 0 ? 0 : resolved.test_fraction;
  Datasets datasets =
      load_source(resolved,
                  {resolved.validation_fraction, test_fraction, seed, resolved.folds, resolved.fold,
                   static_cast<uint64_t>(resolved.repeat - 1)},
                  trained);
  fit(datasets.schema.scaling, datasets.train.features, resolved.scaling);
  keep_unscaled(datasets.schema);
  learn_target_means(datasets);
  learn_target_scaling(datasets, resolved.target_scaling);
  weigh_rows(datasets, resolved);
  return datasets;
}

Dataset dataset_as_trained(Table& table, const Schema& schema, const std::string& origin,
                           std::vector<int64_t>& num_unknown) {
  Matrix features;
  if (schema.columns.empty()) {
    features = std::move(table.features);
  } else {
    Encoded encoded = encode(schema.columns, schema.unknown_category, table);
    num_unknown.resize(schema.columns.size());
    for (size_t i = 0; i < num_unknown.size(); ++i) num_unknown[i] += encoded.num_unknown[i];
    features = std::move(encoded.features);
  }
  Dataset dataset = apply_schema(table, std::move(features), schema, origin);
  // While the training data is read, its scaling is not known yet.
  if (!schema.target_scaling.shift.empty()) scale_targets(dataset.values, schema.target_scaling);
  return dataset;
}

}  // namespace trainer::data
