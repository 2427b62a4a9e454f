// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainer::data {

enum class ColumnKind {
  kNumeric,      // one feature
  kCategorical,  // one feature a category, 1 or 0
  kId,           // names a row; no feature
  kLeftOut       // no feature
};

/// What one column of a table is, and how its cells become features. Decided when the training data
/// is read, fitted on the training part.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::kNumeric;
  bool is_declared = false;                  // by the configuration; else inferred from the cells
  std::string reason = {};                   // why it is left out, in words
  std::optional<float> fill = {};            // kNumeric: of a missing cell; none: that is an error
  std::vector<std::string> categories = {};  // kCategorical, in the order of their features
  /// Whether there is one more feature, the last one, that is 1 where the cell is missing.
  bool marks_missing = false;
  /// kCategorical: 0 for one feature a category, else the column is one feature, the number of the
  /// cell's category, and the model learns a vector of this size for each category and one for what
  /// is missing or unknown, which has the number behind theirs.
  int64_t embedding_size = 0;
  /// kNumeric: ascending; a cell becomes its place among them, from -1 to 1. Empty: it stays.
  std::vector<float> quantiles = {};
};

/// How many features the column becomes: those of its value, and one if it marks missing cells.
int64_t num_features(const Column& column);

/// A numeric column keeps its name; others are "column=category" and "column is missing".
std::vector<std::string> feature_names(std::span<const Column> columns);

}  // namespace trainer::data
