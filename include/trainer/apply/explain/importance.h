// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/model.h"
#include "trainer/config/types.h"

namespace trainer::explain {

/// The metric to measure, and the number and seed of the shuffles.
struct ImportanceOptions {
  config::BestMetric metric = config::BestMetric::kLoss;
  int64_t repeats = 5;  // number of shuffles of each column
  uint64_t seed = 0;
  int64_t num_threads = 1;
};

/// How much worse the metric becomes when the cells of a column are shuffled: mean and standard
/// deviation over the repeats.
struct ColumnImportance {
  std::size_t group = 0;  // index of the column's group
  double mean = 0;
  double deviation = 0;  // sample standard deviation (n - 1); 0 for a single repeat

  /// Whether the mean may be noise. For a column without information, the original order of cells
  /// differs from a shuffle as much as two shuffles differ. So a mean of at most twice the
  /// deviation is noise, as in the user guide of scikit-learn.
  bool is_noise() const { return mean <= 2 * deviation; }
};

/// The permutation importance of all columns, with the score before any shuffle.
struct Importance {
  ImportanceOptions options;
  double score = 0;                // the metric of the rows as they are
  std::optional<double> baseline;  // metric of predicting the target means; none: unknown
  int64_t num_rows = 0;
  std::vector<ColumnImportance> columns;  // the most important first
};

/// Permutation importance (Breiman, "Random forests", 2001, section 10; Fisher, Rudin and Dominici,
/// "All models are wrong, but many are useful", JMLR 20, 2019, equation 3, as a difference): the
/// difference of the metric before and after the cells of one column are shuffled among the rows,
/// with the sign that makes a worse metric positive. All features of a group move together. The
/// bits do not depend on the number of threads. As the outputs of a model are already calibrated,
/// the calibrated log loss is measured as, and called, log loss, as in evaluations. Throws
/// Error(kUsage) for a metric that is not defined for the task, and Error(kData) for one that is
/// not defined for these rows.
Importance permutation_importance(const apply::Model& model, const ExplainedRows& rows,
                                  std::span<const ColumnGroup> groups,
                                  const ImportanceOptions& wanted);

}  // namespace trainer::explain
