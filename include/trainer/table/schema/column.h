// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/text/enum_names.h"
#include "trainer/config/types.h"
#include "trainer/table/schema/profile.h"
#include "trainer/table/schema/quantiles.h"

namespace trainer::data {

/// How a column is used. Checkpoints and JSON have the names "numeric", "categorical", "id" and
/// "left_out".
enum class ColumnKind {
  kNumeric,      // one feature
  kCategorical,  // one feature a category, 1 or 0
  kId,           // names a row; no feature
  kIgnored       // no feature
};

/// What the cells of a column are limited to.
struct Limits {
  float low = 0;
  float high = 0;

  bool operator==(const Limits&) const = default;
};

/// `number`, or the limit that it is beyond. NaN stays.
inline float limited(float number, const Limits& limits) {
  if (number < limits.low) return limits.low;
  return number > limits.high ? limits.high : number;
}

/// What one column of a table is, and how its cells become features. Decided when the training data
/// is read, fitted on the training split.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::kNumeric;
  bool is_declared = false;                  // by the configuration; else inferred from the cells
  std::string reason = {};                   // why it is left out, in words
  std::optional<float> fill = {};            // kNumeric: of a missing cell; none: that is an error
  std::vector<std::string> categories = {};  // kCategorical, in the order of their features
  /// Whether missing cells are something to learn from: there is one more feature, the last one,
  /// that is 1 where the cell is missing. Of embedded columns and signs: whether training rows have
  /// such.
  bool has_missing_indicator = false;
  /// kCategorical: 0 for one feature a category. Else the column is one feature, the number of the
  /// cell's category (embedded), and the model learns a vector of this size for each category and
  /// one for what is missing or unknown, whose number follows theirs.
  int64_t embedding_size = 0;
  /// kCategorical with two categories: one feature, -1 for the first and 1 for the second, 0 for
  /// what is missing or unknown.
  bool is_sign = false;
  /// kNumeric: ascending; a cell becomes its score among them (QuantileScale). Empty: it stays.
  std::vector<float> quantiles = {};
  QuantileScore quantile_score = QuantileScore::kRank;
  /// kNumeric: what is subtracted from a number of the file before it becomes float32 (Scaling).
  /// Cells, fill, quantiles and limits are without it.
  double offset = 0;
  std::optional<Limits> limits = {};  // kNumeric: with data.outliers: clip
  /// Of a column that is a part of a date: the column of the file that has it. Else empty.
  std::string source = {};
  config::DatePart date_part = config::DatePart::kYear;
  config::DateOrder date_order = config::DateOrder::kYearFirst;  // of the dates in the file
  /// kNumeric: what stands beside all numbers of the column in the file, with # in place of the
  /// number: "#%", "$#". Empty: nothing.
  std::string unit = {};
  ColumnProfile profile = {};  // of features

  bool operator==(const Column&) const = default;
};

/// Whether the column becomes features: numeric or categorical.
bool is_feature(const Column& column);

/// The column of the file that the cells come from.
const std::string& source_of(const Column& column);

/// Whether the column is one feature, the number of the cell's category.
bool is_embedded(const Column& column);

/// How many features the column becomes: those of its value, and one if it marks missing cells;
/// one in all if it is embedded.
int64_t num_features(const Column& column);

/// The index of each column's first feature. Features stand in the order of the columns, but those
/// of embedded columns behind all others.
std::vector<int64_t> first_features(std::span<const Column> columns);

/// A numeric or embedded column keeps its name; others are "column=category" and "column is
/// missing".
std::vector<std::string> feature_names(std::span<const Column> columns);

/// What was subtracted from each feature: the offset of a number that is neither a rank among
/// quantiles nor a mark of a missing cell. Empty: nothing of any.
std::vector<double> feature_offsets(std::span<const Column> columns);

/// A cell, fill, quantile or limit of `column` as the file would have it.
double in_file_units(const Column& column, float number);

/// A short text of in_file_units().
std::string text_in_file_units(const Column& column, float number);

/// How many numbers to learn for each of so many categories: min(50, round(1.6 n^0.56)), the rule
/// of fastai (https://docs.fast.ai/tabular.model.html, emb_sz_rule), whose largest is 600.
int64_t default_embedding_size(int64_t num_categories);

}  // namespace trainer::data

namespace trainer {

template <>
std::span<const std::string> enum_names<data::ColumnKind>();

}  // namespace trainer
