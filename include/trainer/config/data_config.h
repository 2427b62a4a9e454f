// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/types.h"

namespace trainer::config {

/// Returns the default of data.missing: the texts that pandas.read_csv reads as missing values, and
/// "?". An empty field is always a missing value.
std::vector<std::string> default_missing_texts();

// The bounds, units and meanings of all members are documented once, in src/config/data_fields.cpp.

/// The keys of the section `data.synthetic`: size and difficulty of generated data.
struct SyntheticConfig {
  int64_t num_samples = 1000;
  int64_t num_features = 10;
  int64_t num_classes = 2;
  double separation = 1.0;
};

/// The keys of the section `data.idx`: paths of files in the format of MNIST.
struct IdxConfig {
  std::string train_images;
  std::string train_labels;
  std::string test_images;
  std::string test_labels;
};

/// The keys of the section `data.npy`: paths of NumPy arrays.
struct NpyConfig {
  std::string features;
  std::string targets;
  std::string test_features;
  std::string test_targets;
};

/// The keys of the section `data`: where rows come from, what their columns mean, how they are
/// split and how values are scaled.
struct DataConfig {
  Source source = Source::kSynthetic;
  std::string path;
  std::string query;
  std::string query_folder;
  QueryFiles query_files = QueryFiles::kAny;
  std::string cache = "auto";  // or "off", or a folder
  std::vector<std::string> target;
  Task task = Task::kAuto;
  std::string delimiter = "auto";  // auto, comma, semicolon, tab, or the character itself
  std::string decimal = ".";
  std::string thousands = "none";  // or "space", or the mark
  std::vector<std::string> missing = default_missing_texts();
  std::vector<std::string> ignore;
  std::vector<std::string> id;
  std::string weight;
  ClassWeights class_weights = ClassWeights::kNone;
  std::vector<std::string> numeric;
  std::vector<std::string> categorical;
  int64_t max_categories = 0;                 // 0 = auto
  std::vector<std::string> dates = {"auto"};  // or "off", or names of DatePart
  DateOrder date_order = DateOrder::kAuto;
  BinaryEncoding binary = BinaryEncoding::kOneHot;
  int64_t embed_above = 16;
  int64_t embedding_size = 0;  // 0 = auto
  UnknownCategory unknown_category = UnknownCategory::kUnknown;
  Imputation fill = Imputation::kMean;
  double fill_value = 0.0;
  bool missing_indicator = false;
  bool drop_rows_without_target = false;
  std::string positive;  // empty: the second of two classes in their order
  Outliers outliers = Outliers::kWarn;
  std::string validation_path;
  std::string test_path;
  int64_t shuffle_window = 0;  // 0 = auto
  SplitMethod split = SplitMethod::kRandom;
  std::string time;
  std::string split_column;
  std::string group;
  int64_t folds = 0;
  int64_t fold = 1;
  int64_t repeat = 1;
  int64_t validation_folds = 0;
  int64_t validation_fold = 1;
  FitOn fit_on = FitOn::kTrain;
  IdxConfig idx;
  NpyConfig npy;
  SyntheticConfig synthetic;
  double validation_fraction = 0.1;
  double test_fraction = 0.1;
  ScalingMethod scaling = ScalingMethod::kStandard;
  bool scale_categories = false;
  double smooth_clip = 0;
  ScalingMethod target_scaling = ScalingMethod::kStandard;
  bool clip_predictions = false;
};

/// Returns whether the data are a table, that is, rows with named columns.
inline bool is_table(Source source) { return source == Source::kCsv || source == Source::kQuery; }

/// Returns whether the method scales a number by its rank among the quantiles of its column.
inline bool is_by_quantiles(ScalingMethod method) {
  return method == ScalingMethod::kQuantile || method == ScalingMethod::kQuantileNormal;
}

/// Returns the parts of a date that become features, as data.dates states them; none for "off".
std::vector<DatePart> date_parts(const DataConfig& data);

}  // namespace trainer::config
