// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/memory/array.h"
#include "trainer/config/types.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/schema/scaling.h"
#include "trainer/table/source/data_file.h"
#include "trainer/table/table.h"

namespace trainer::config {
struct DataConfig;
struct DataFacts;

}  // namespace trainer::config

namespace trainer::data {

class RowChecks;

/// One split of the data, ready to be gathered into batches. Features are as they were read;
/// Scaling is applied when a batch is gathered.
struct Dataset {
  Matrix features;                   // [n, num_features]
  Array<int64_t> classes;            // [n] index into Schema::labels; classification only
  Array<float> values;               // [n, num_targets], scaled; regression only
  Array<int64_t> source_lines = {};  // [n] line of a text file, else number of the row from 1 on
  /// [n] how much a row counts in the loss, 1 on average; empty: all count alike.
  Array<float> weights = {};
  /// [n, num_targets] as the file has them; regression only, and not of the training split, whose
  /// predictions nobody judges.
  Array<double> targets = {};
  /// What finds damaged rows of a file that is mapped (row_checks.h); nothing for rows in memory.
  std::shared_ptr<RowChecks> checks = {};

  int64_t size() const { return features.num_rows; }
};

/// What the columns mean. Stored in every checkpoint, so that a trained model can be applied to
/// new files.
struct Schema {
  config::Task task = config::Task::kClassification;  // never kAuto
  std::vector<std::string> feature_names;
  std::vector<std::string> target_names;  // several for regression only
  std::vector<std::string> labels;        // [num_classes]; empty for regression
  Scaling scaling;
  /// [num_targets] what a model learns of the targets; regression only.
  Scaling target_scaling = {};
  /// [num_targets] what predictions are limited to, scaled; empty: they are not.
  std::vector<float> target_low = {};
  std::vector<float> target_high = {};
  /// What is known of the targets without any feature, of the training split: `[num_classes]` which
  /// part of the rows is of the class, or `[num_targets]` the mean in the units of the file. Empty
  /// for models that were trained before this was kept.
  std::vector<double> target_means = {};
  /// What to expect of a file, in the order of the features; all columns but the target. Empty for
  /// data that is no table.
  std::vector<Column> columns = {};
  config::UnknownCategory unknown_category = config::UnknownCategory::kUnknown;
  /// What stands for a missing value in a file, as data.missing.
  std::vector<std::string> missing = {};

  int64_t num_features() const { return static_cast<int64_t>(feature_names.size()); }
  int64_t num_targets() const { return static_cast<int64_t>(target_names.size()); }
  /// One logit a class, but a single one, that of the second class, for binary cross-entropy; one
  /// number a target for regression.
  int64_t num_outputs(config::Loss loss) const {
    if (task == config::Task::kRegression) return num_targets();
    return loss == config::Loss::kBinaryCrossEntropy ? 1 : static_cast<int64_t>(labels.size());
  }

  bool operator==(const Schema&) const = default;
};

/// Appends a copy of the rows of `from`, which are intact, to those of `to`. Both have the same
/// columns, and `to` may be empty.
void append_rows(const Dataset& from, Dataset& to);

/// Limits outputs `[n, num_targets]` of a regression model as the schema says.
void limit_outputs(const Schema& schema, std::span<float> outputs);

/// Such outputs in the units of the file, within the limits.
std::vector<double> predicted_values(const Schema& schema, std::span<const float> outputs);

/// Targets `[n, num_targets]` in the units of the file as a model of this schema learns them.
std::vector<float> scaled_targets(const Schema& schema, std::span<const double> values);

/// The targets `[n, num_targets]` of these rows as the file has them; of rows that do not keep
/// them, what float32 makes of them when they are scaled and scaled back.
std::vector<double> true_values(const Schema& schema, const Dataset& rows);

/// The splits of the data of a run, and what is to be said about them.
struct Datasets {
  Dataset train;
  Dataset validation;  // may be empty
  Dataset test;        // may be empty
  Schema schema;
  std::vector<Fingerprint> fingerprints;  // of each file that was read
  std::string task_reason = {};           // why the task is what it is, where it was inferred
  int64_t num_without_target = 0;         // rows of the files that were left out for that
  int64_t num_weightless = 0;             // the same, for a weight of 0
  std::vector<std::string> notes = {};    // what was taken for what, one line each
  int64_t num_column_notes = 0;           // of these, behind the first: of a single column each
  std::vector<std::string> warnings = {};
  std::string cache = {};  // where they were read or written instead (table/cached/load.h)
  std::vector<std::string> target_copies = {};  // a line of the warnings about columns that tell it
};

/// Reads, splits and describes the data of a run, deterministic in `seed`. Rows are split by both
/// fractions, stratified for classification; or, in a CSV file, by data.split_column, or so that no
/// data.group is in two splits. A split that has its own files takes nothing of the others. What is
/// learned from cells (fills, categories, scaling) is learned from the training split.
/// Labels keep their text and are sorted: by value when all are numbers, else by their bytes; the
/// spellings of one number ("1" and "1.0") are one label, but with and without zeros in front ("1"
/// and "01") they are an error. Task `auto` of a CSV file and of arrays is
/// what infer_task() says. IDX and synthetic labels are classes unless told otherwise.
/// Throws Error(kData) for everything that read_table, read_idx, read_npy, split_rows, fit_columns
/// and encode refuse; a label that no row of the training split has; a constant target; a
/// regression target that is not a finite number; labels of a test file that its training file
/// lacks; more than 1,000 classes unless `data.task: classification` asks for them, and even then
/// when they are numbers that are not whole. Features and regression targets are without their
/// offsets (Scaling). Those of `trained`, the schema of a run whose data are read again, are taken,
/// and so is what was inferred then or was another default; without one they are chosen, by the
/// first rows of a table, all of an array and all targets.
Datasets load_datasets(const config::DataConfig& data, uint64_t seed,
                       const Schema* trained = nullptr);

/// What recipes ask of the data.
config::DataFacts recipe_facts(const Datasets& data);

}  // namespace trainer::data
