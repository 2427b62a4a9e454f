// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/data/table_source.h"
#include "trainer/metrics/report.h"
#include "trainer/metrics/threshold.h"

namespace trainer::apply {

/// What an evaluation found.
struct EvaluationResult {
  metrics::Report report;
  std::string split = {};  // "test" or "validation" of the run's own data; else empty
  std::vector<std::string> warnings = {};  // a line each
  int64_t num_without_target = 0;          // rows of the file that were left out for that
};

/// Labelled data.
struct EvaluateRequest {
  /// A table with the columns of the training data and its targets, in any order; or IDX images or
  /// a .npy array for a model that was trained on such.
  data::TableSource data;
  std::filesystem::path targets = {};  // IDX labels, or a .npy array; empty for a table
  int64_t num_threads = 1;
};

/// How good the model is on labelled data. The loss is that of training.loss, each row counted by
/// data.weight, and all alike, with a warning, where the file has no such column. A CSV file is
/// read in pieces; outputs and targets of all rows stay in memory. Throws Error(kData) as predict()
/// does, for a target that is missing, no number or a label that the model does not know, and
/// Error(kUsage) for targets of a table or an array without targets. A row without a target is left
/// out where training did so (data.drop_rows_without_target).
EvaluationResult evaluate_file(const Model& model, const EvaluateRequest& request);

/// What a model says of the rows of a split of its run's own data.
struct SplitOutputs {
  std::string split;    // "test" or "validation"
  data::Schema schema;  // with the target means of the data, however old the checkpoint is
  data::Dataset rows;
  std::vector<float> outputs;  // [rows, outputs]
  std::vector<float> losses;   // [rows], not weighted
};

/// Of the test split, or where there is none of the validation split. Throws as
/// evaluate_own_split() does.
SplitOutputs predict_own_split(const Model& model, int64_t num_threads);

/// The same on the test split of the run's own data, or on its validation split where there is no
/// test split. Throws Error(kData) when there is neither, when the data are not what they were, and
/// as data::load_datasets does.
EvaluationResult evaluate_own_split(const Model& model, int64_t num_threads);

/// The threshold that is best for `metric` on the validation split of the run's own data; of an
/// ensemble, with the predictions of each member on its own one. The model has two classes. Throws
/// Error(kData) without a validation split that has rows of both, and as evaluate_own_split() does.
metrics::ThresholdChoice find_threshold(const Model& model, metrics::DecisionMetric metric,
                                        int64_t num_threads);

/// Throws Error(kData) when `datasets` are not those that the model was trained on.
void require_same_data(const Model& model, const data::Datasets& datasets);

}  // namespace trainer::apply
