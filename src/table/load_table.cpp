// SPDX-License-Identifier: Apache-2.0
#include "table/load_table.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/data_config.h"
#include "trainer/table/schema/column_notes.h"
#include "trainer/table/schema/columns.h"
#include "trainer/table/schema/encode.h"
#include "trainer/table/schema/row_numbers.h"
#include "trainer/table/source/idx.h"
#include "trainer/table/source/npy.h"
#include "trainer/table/source/table_reader.h"
#include "trainer/table/source/table_source.h"

#include "table/error.h"
#include "table/schema/fit_schema.h"
#include "table/schema/outliers.h"
#include "table/schema/target.h"
#include "table/split/split_dataset.h"

namespace trainer::data {
namespace {

using Lines = std::vector<std::string>;

void append(Lines& lines, Lines&& more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

Target infer_usable_target(const Table& table, const config::DataConfig& data, int64_t folds,
                           const Schema* trained) {
  Target target = infer_target(table, wanted_task(data), target_offsets(trained));
  choose_positive(table, data.positive, target);
  require_other_names(table, target);
  const bool is_stratified = table.groups.empty() && table.times.empty();
  if (is_stratified) require_labels_for_folds(table, target, folds);
  return target;
}

/// A size that is used by nothing would be a run that is not what its user believes.
void require_embedding(const std::vector<Column>& columns, const config::DataConfig& data) {
  if (data.embedding_size == 0 || std::any_of(columns.begin(), columns.end(), is_embedded)) return;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("data.embedding_size: has no effect: no categorical column has more than {} "
                  "categories (data.embed_above); lower data.embed_above or remove this key",
                  with_thousands(data.embed_above)));
}

std::optional<QuantileScore> quantile_score(config::ScalingMethod method) {
  if (!config::is_by_quantiles(method)) return std::nullopt;
  return method == config::ScalingMethod::kQuantile ? QuantileScore::kRank : QuantileScore::kNormal;
}

std::vector<Column> fit(const Table& table, std::span<const int64_t> rows,
                        const config::DataConfig& data) {
  const TimedStage timed(Stage::kEncode);
  std::vector<Column> columns = fit_columns(table, rows,
                                            {.fill = data.fill,
                                             .fill_value = data.fill_value,
                                             .missing_indicator = data.missing_indicator,
                                             .embed_above = data.embed_above,
                                             .embedding_size = data.embedding_size,
                                             .signs = data.binary == config::BinaryEncoding::kSign,
                                             .quantiles = quantile_score(data.scaling)});
  require_embedding(columns, data);
  return columns;
}

Schema make_schema(std::vector<Column>&& columns, const config::DataConfig& data) {
  Schema schema;
  schema.feature_names = feature_names(columns);
  schema.scaling.offset = feature_offsets(columns);
  schema.columns = std::move(columns);
  schema.unknown_category = data.unknown_category;
  schema.missing = data.missing;
  return schema;
}

void warn_of_unknown(Datasets& datasets, const std::vector<int64_t>& num_unknown,
                     const std::string& split) {
  append(datasets.warnings, describe_unknown(datasets.schema.columns, num_unknown, split));
}

// The same bytes, whatever the file is called.
void warn_of_same_file(Datasets& datasets, const std::vector<Fingerprint>& files,
                       const std::string& split) {
  for (const Fingerprint& file : files) {
    const auto same = std::find_if(
        datasets.fingerprints.begin(), datasets.fingerprints.end(), [&](const Fingerprint& other) {
          return other.num_bytes == file.num_bytes && other.crc32 == file.crc32;
        });
    if (same == datasets.fingerprints.end()) continue;
    datasets.warnings.push_back(
        fmt::format("{}: {} has the same content as {}, so these rows are in both splits; metrics "
                    "of rows that were trained on say nothing of others",
                    split, file.path, same->path));
  }
}

/// The rows of a split that has a file of its own.
Dataset load_split_file(const std::string& path, const config::DataConfig& data,
                        const std::string& split, Datasets& datasets) {
  const Schema& schema = datasets.schema;
  Table table = read_table_as(file_source(data, path),
                              {.columns = schema.columns,
                               .targets = data.target,
                               .weight = data.weight,
                               .drop_rows_without_target = data.drop_rows_without_target});
  datasets.num_without_target += table.num_without_target;
  datasets.num_weightless += table.num_weightless;
  append(datasets.notes, describe_files(path));
  warn_of_same_file(datasets, table.fingerprints, split);
  datasets.fingerprints.push_back(table.fingerprints.front());
  std::vector<int64_t> num_unknown;
  Dataset dataset = apply_schema(std::move(table), schema, data.path, num_unknown);
  warn_of_unknown(datasets, num_unknown, split);
  return dataset;
}

}  // namespace

ColumnOptions training_columns(const config::DataConfig& data, const Schema* trained) {
  return {.targets = data.target,
          .ignored = data.ignore,
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
          .dates = config::date_parts(data),
          .date_order = data.date_order,
          .expects_labels = data.task == config::Task::kClassification,
          .with_offsets = trained == nullptr ? nullptr : &trained->columns};
}

Datasets load_table(const config::DataConfig& data, SplitOptions options, const Schema* trained) {
  if (!data.validation_path.empty()) options.validation_fraction = 0;
  if (!data.test_path.empty()) options.test_fraction = 0;
  Table table = read_table(training_source(data), training_columns(data, trained));
  Target target = infer_usable_target(table, data, options.folds, trained);
  const SplitIndices split = split_table(table, target, data, options);
  Array<int64_t> merged;
  const std::span<const int64_t> fit_rows = rows_to_fit(split, data, merged);
  Lines copies = find_target_copies(table, target);
  Lines row_numbers = find_row_numbers(table);
  Lines limited;
  if (data.outliers == config::Outliers::kClip) limited = limit_columns(table, fit_rows);
  Lines outliers;
  if (data.outliers != config::Outliers::kIgnore) outliers = describe_outliers(table, target, data);
  table.targets = {};  // they are classes or values now
  std::vector<Column> columns = fit(table, fit_rows, data);
  Lines notes = describe_columns(table, columns, data.fill);
  const int64_t num_without_target = table.num_without_target;
  const int64_t num_weightless = table.num_weightless;
  Encoded encoded = encode(columns, data.unknown_category, table);

  Datasets datasets =
      split_dataset(std::move(table), std::move(encoded.features), std::move(target), split,
                    fit_rows, data, make_schema(std::move(columns), data));
  datasets.num_without_target = num_without_target;
  datasets.num_weightless = num_weightless;
  datasets.notes = std::move(notes);
  datasets.num_column_notes = std::max<int64_t>(0, std::ssize(datasets.notes) - 1);
  datasets.target_copies = copies;
  append(datasets.warnings, std::move(outliers));
  append(datasets.notes, std::move(limited));
  append(datasets.warnings, std::move(copies));
  append(datasets.notes, std::move(row_numbers));
  append(datasets.notes, find_useless_columns(datasets.train.features, datasets.schema.columns));
  warn_of_unknown(datasets, encoded.num_unknown, "the validation and test splits");
  if (data.source == config::Source::kCsv) append(datasets.notes, describe_files(data.path));
  if (!data.validation_path.empty()) {
    datasets.validation =
        load_split_file(data.validation_path, data, "data.validation_path", datasets);
  }
  if (!data.test_path.empty()) {
    datasets.test = load_split_file(data.test_path, data, "data.test_path", datasets);
  }
  return datasets;
}

namespace {

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
  Datasets datasets = fit_and_split(
      read(train.features, train.targets, trained == nullptr ? nullptr : &trained->scaling.offset),
      data, options, trained);
  if (!has_test) return datasets;

  const Schema& schema = datasets.schema;
  Table table = read(test.features, test.targets, &schema.scaling.offset);
  const auto require_equal = [](const std::string& file, const char* what, int64_t got,
                                const std::string& train_file, int64_t expected) {
    if (got == expected) return;
    throw data_error(
        file, fmt::format("expected {} {} per row as in {}, got {}", with_thousands(expected), what,
                          train_file, with_thousands(got)));
  };
  require_equal(test.features, "features", table.features.num_columns, train.features,
                schema.num_features());
  require_equal(test.targets, "targets", static_cast<int64_t>(table.target_names.size()),
                train.targets, schema.num_targets());
  datasets.fingerprints.insert(datasets.fingerprints.end(), table.fingerprints.begin(),
                               table.fingerprints.end());
  std::vector<int64_t> num_unknown;
  datasets.test = apply_schema(std::move(table), schema, train.targets, num_unknown);
  return datasets;
}

}  // namespace

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
  const auto read = [&](const std::string& features, const std::string& targets,
                        const std::vector<double>* offsets) {
    return read_npy_pair(features, targets, offsets, data.task == config::Task::kClassification);
  };
  return load_pairs(data, options, trained, {files.features, files.targets},
                    {files.test_features, files.test_targets}, read);
}

config::DataConfig as_in_run(config::DataConfig data, const Schema* trained) {
  const bool is_open = config::is_table(data.source) || data.source == config::Source::kNpy;
  if (trained == nullptr || !is_open) return data;
  if (data.task == config::Task::kAuto) data.task = trained->task;
  if (data.missing == config::default_missing_texts()) data.missing = trained->missing;
  return data;
}

const std::vector<double>* target_offsets(const Schema* trained) {
  return trained == nullptr ? nullptr : &trained->target_scaling.offset;
}

}  // namespace trainer::data
