// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/model.h"

namespace trainer::explain {

/// One value of a column, and the mean predictions if all rows have it.
struct DependencePoint {
  std::string text;                  // the value as a cell for people
  std::optional<double> value = {};  // in the units of the file; none: a category, or missing
  double share = 0;                // fraction of rows with this category, or nearest to this number
  std::vector<double> means = {};  // [predictions]
};

/// The mean predictions for several values of a column.
struct PartialDependence {
  std::string column;
  bool is_numeric = false;
  std::vector<DependencePoint> points;  // ascending numbers; or categories, the most frequent first
  int64_t num_more = 0;                 // number of categories that are left out
};

/// The names of the predictions: the second of two classes (its probability), each of more than two
/// classes, or each target.
std::vector<std::string> prediction_names(const data::Schema& schema);

/// The indices, in ascending order, of the at most `max_count` predictions that change most over
/// the points.
std::vector<std::size_t> most_changing(const PartialDependence& dependence, std::size_t max_count);

/// Partial dependence (Friedman, "Greedy function approximation", 2001, equation 52): the mean
/// prediction, probabilities or numbers in the units of the file, over all rows after the cells of
/// one column are replaced by one value. For a numeric column these values are its deciles, or all
/// of its values if there are at most 11; for a categorical column its 12 most frequent categories.
/// Returns one result for each part of a date, and none for a block of many features.
std::vector<PartialDependence> partial_dependence(const apply::Model& model,
                                                  const ExplainedRows& rows,
                                                  const ColumnGroup& group, int64_t num_threads);

}  // namespace trainer::explain
