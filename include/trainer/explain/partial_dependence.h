// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/explain/column_groups.h"
#include "trainer/explain/explained_rows.h"

namespace trainer::explain {

/// One value of a column, and what is predicted on average if all rows have it.
struct DependencePoint {
  std::string text;                  // the cell
  std::optional<double> value = {};  // in the units of the file; none: a category, or missing
  double share = 0;                  // of the rows whose cell is this one, or the nearest number
  std::vector<double> means = {};    // [predictions]
};

/// How predictions depend on a column.
struct PartialDependence {
  std::string column;
  bool is_numeric = false;
  std::vector<DependencePoint> points;  // numbers ascend; categories: the most frequent ones first
  int64_t num_more = 0;                 // categories that are left out
};

/// What is predicted: the second of two classes (its probability), each of more classes, or each
/// target.
std::vector<std::string> prediction_names(const data::Schema& schema);

/// The at most `max_count` predictions that change most over the points, in their order.
std::vector<std::size_t> most_changing(const PartialDependence& dependence, std::size_t max_count);

/// Partial dependence (Friedman, "Greedy function approximation", 2001, equation 52): the mean
/// prediction, probabilities or numbers in the units of the file, over the rows with the cell of
/// one column replaced by the same value in all of them. Of numbers these values are the deciles,
/// or all where there are no more; of categories the 12 most frequent ones. A date has one for each
/// of its parts, a block of many features none.
std::vector<PartialDependence> partial_dependence(const apply::Model& model,
                                                  const ExplainedRows& rows,
                                                  const ColumnGroup& group, int64_t num_threads);

}  // namespace trainer::explain
