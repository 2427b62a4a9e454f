// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/apply/labelled_rows.h"
#include "trainer/apply/model.h"
#include "trainer/metrics/report.h"
#include "trainer/metrics/threshold.h"

namespace trainer::apply {

/// What an evaluation found.
struct EvaluationResult {
  metrics::Report report;
  std::string split = {};  // "test" or "validation" of the run's own data; else empty
  FileNotes notes = {};
};

/// How good the model is on labelled data. The loss is that of training.loss. A CSV file is read in
/// pieces; outputs and targets of all rows stay in memory. Throws as read_labelled() does.
EvaluationResult evaluate_file(const Model& model, const LabelledFile& file, int64_t num_threads);

/// What a model says of the rows of a split of its run's own data.
struct SplitOutputs : SplitRows {
  std::vector<float> outputs;  // [rows, outputs]
  std::vector<float> losses;   // [rows], not weighted
};

/// Throws as own_split() does.
SplitOutputs predict_own_split(const Model& model, int64_t num_threads);

/// The same on the split of the run's own data that own_split() finds. Throws as that does.
EvaluationResult evaluate_own_split(const Model& model, int64_t num_threads);

/// The threshold that is best for `metric` on the validation split of the run's own data; of an
/// ensemble, with the predictions of each member on its own one. The model has two classes. Throws
/// Error(kData) without a validation split that has rows of both, and as evaluate_own_split() does.
metrics::ThresholdChoice find_threshold(const Model& model, metrics::DecisionMetric metric,
                                        int64_t num_threads);

}  // namespace trainer::apply
