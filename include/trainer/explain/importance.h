// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/config/types.h"
#include "trainer/explain/column_groups.h"
#include "trainer/explain/explained_rows.h"

namespace trainer::explain {

/// What is measured, and how.
struct ImportanceOptions {
  config::BestMetric metric = config::BestMetric::kLoss;
  int64_t repeats = 5;  // shuffles of each column
  uint64_t seed = 0;
  int64_t num_threads = 1;
};

/// How much worse the metric is with the cells of a column shuffled, over the repeats.
struct ColumnImportance {
  std::size_t group = 0;  // index of the column's group
  double mean = 0;
  double deviation = 0;  // of a sample (n - 1); 0 of a single repeat

  /// A column that tells the model nothing has a score that differs from that of its shuffled cells
  /// as much as those of two shuffles differ. So at most twice the deviation is noise, as in the
  /// user guide of scikit-learn.
  bool is_noise() const { return mean <= 2 * deviation; }
};

/// Permutation importance.
struct Importance {
  ImportanceOptions options;
  double score = 0;                // the metric of the rows
  std::optional<double> baseline;  // that of a model that knows the targets alone; see metrics
  int64_t num_rows = 0;
  std::vector<ColumnImportance> columns;  // the most important first
};

/// Permutation importance (Breiman, "Random forests", 2001, section 10; Fisher, Rudin and Dominici,
/// "All models are wrong, but many are useful", JMLR 20, 2019, equation 3, as a difference): the
/// metric of the rows less the metric after the cells of one column have been shuffled among the
/// rows, with the sign that makes a worse metric positive. All features of a group move together.
/// The same bits for any number of threads. As the outputs of a model are calibrated already, the
/// calibrated log loss is measured, and called, log loss, as evaluations do. Throws Error(kUsage)
/// for a metric that is not defined for the task and Error(kData) for one that is not for these
/// rows.
Importance permutation_importance(const apply::Model& model, const ExplainedRows& rows,
                                  std::span<const ColumnGroup> groups,
                                  const ImportanceOptions& wanted);

}  // namespace trainer::explain
