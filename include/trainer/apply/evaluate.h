// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/apply/labelled_rows.h"
#include "trainer/apply/model.h"
#include "trainer/config/types.h"
#include "trainer/metrics/classification.h"
#include "trainer/metrics/report.h"

/// Losses and scores of the outputs of a model.

namespace trainer::apply {

/// The scores of a model on labelled rows, and where the rows come from.
struct EvaluationResult {
  metrics::Report report;
  std::string split = {};  // as SplitRows has it; empty for the rows of a file
  FileNotes notes = {};
};

/// Evaluates the model on a file with targets. The loss is that of training.loss. A CSV file is
/// read in batches; outputs and targets of all rows stay in memory. Throws as read_labelled() does.
EvaluationResult evaluate_file(const Model& model, const LabelledFile& file, int64_t num_threads);

/// The rows of a split of the run's own data with the outputs of the model for them.
struct SplitOutputs : SplitRows {
  std::vector<float> outputs;  // [rows, outputs]
  std::vector<float> losses;   // [rows], not weighted
  double predict_seconds = 0;  // that the outputs took
};

/// Returns the outputs of the model for these rows, and the loss of each.
SplitOutputs predict_rows(const Model& model, SplitRows rows, int64_t num_threads);

/// Predicts the split of the run's own data that own_split() chooses. Throws as own_split() does.
SplitOutputs predict_own_split(const Model& model, int64_t num_threads);

/// Evaluates the model on the split of the run's own data that own_split() chooses. Throws as
/// own_split() does.
EvaluationResult evaluate_own_split(const Model& model, int64_t num_threads);

/// The threshold of a model with two classes that is best for `metric` on own_validation(). Throws
/// Error(kData) unless these rows are of both classes, and as evaluate_own_split() does.
metrics::ThresholdChoice find_threshold(const Model& model, metrics::DecisionMetric metric,
                                        int64_t num_threads);

/// The training loss of each row, `[n]`, not multiplied by the weights of the rows.
std::vector<float> row_losses(const Model& model, std::span<const float> outputs,
                              const data::Dataset& rows);

/// The mean loss, weighted by the weights of the rows, of rows that are added batch by batch.
class MeanLoss {
 public:
  /// Adds the losses `[n]` of `rows`, with the weights of the rows.
  void add(std::span<const float> losses, const data::Dataset& rows);
  double value() const { return loss_sum_ / weight_sum_; }

 private:
  double loss_sum_ = 0;
  double weight_sum_ = 0;
};

/// The value of a metric that fits the task; nothing if it is not defined for these rows.
std::optional<double> score(const Model& model, config::BestMetric metric,
                            const metrics::LabelledOutputs& labelled);

}  // namespace trainer::apply
