// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/text/document.h"
#include "trainer/metrics/classification.h"
#include "trainer/metrics/regression.h"
#include "trainer/metrics/score.h"
#include "trainer/table/dataset.h"

namespace trainer::metrics {

/// The outputs of a model for some rows, with the rows that contain the targets.
struct LabelledOutputs {
  const data::Schema& schema;
  const data::Dataset& rows;
  Outputs outputs;  // [rows, outputs] for scaled targets
};

/// Which of the expensive scores are computed: only the AUROC of two classes, which sorts the rows
/// once; or the areas under both curves for any number of classes, which sorts the rows for each
/// class, and also Brier score and calibration error.
enum class Ranking { kOfTwoClasses, kOfAll };

/// Returns all scores of the task except the loss.
std::vector<Score> scores(const LabelledOutputs& labelled, Ranking ranking);

/// The scores of a rule that predicts without any feature.
struct Baseline {
  std::string rule;  // such as "always \"cat\"" or "always the mean"
  std::vector<Score> scores;
};

/// All metrics of an evaluation.
struct Report {
  int64_t num_rows = 0;
  double loss = 0;
  std::vector<Score> scores;
  std::optional<Baseline> baseline;
  // The members below are filled for a classification only.
  std::vector<std::string> labels;
  std::vector<ClassScores> classes;  // [labels]
  ConfusionMatrix confusion;
  // The members below are filled for several targets only.
  std::vector<std::string> target_names;
  std::vector<TargetScores> targets;  // [target_names]
};

/// Computes all metrics. The baseline follows from data::Schema::target_means: for classes it
/// predicts the most frequent one, with the frequencies as probabilities; for numbers the mean.
/// There is no baseline if these are unknown.
Report make_report(const LabelledOutputs& labelled, double loss);

/// Returns the loss and the scores of a report.
std::vector<Score> all_scores(const Report& report);

/// Returns the scores of a report. As text: a table with the columns `before`, one for the report
/// with its `title`, and one for its baseline, and a sentence if the model does not beat that. As
/// JSON: {"rows", "loss", each score, "baseline": {each score}}; a number that is not finite is
/// null.
Document scores_document(const std::string& title, const Report& report,
                         std::vector<ScoreColumn> before = {});

/// Returns the details of a report. As text, below `title`: a table of the classes; the confusion
/// matrix, or the most confused pairs if that would be too wide; a table of the targets, if there
/// are several. As JSON: {"classes", "confusion_matrix", "targets"}.
Document details_document(const Report& report, const std::string& title = "");

/// Returns the JSON of scores_document() and details_document() in one object.
Json to_json(const Report& report);

}  // namespace trainer::metrics
