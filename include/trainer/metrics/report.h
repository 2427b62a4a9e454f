// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "trainer/data/dataset.h"
#include "trainer/metrics/classification.h"
#include "trainer/metrics/outputs.h"
#include "trainer/metrics/regression.h"
#include "trainer/metrics/score.h"

namespace trainer::metrics {

/// What an evaluation is judged by.
struct Judged {
  const data::Schema& schema;
  const data::Dataset& rows;
  Outputs outputs;  // [rows, outputs] of the model, of scaled targets
};

/// Which rankings are among the scores: the AUROC of two classes, which sorts the rows once; or the
/// areas under both curves of any number of classes, which sorts them for each.
enum class Ranking { kOfTwoClasses, kOfAll };

/// All scores of the task but the loss.
std::vector<Score> scores(const Judged& judged, Ranking ranking);

/// What is achieved without looking at a feature.
struct Baseline {
  std::string rule;  // "always \"cat\"" or "always the mean"
  std::vector<Score> scores;
};

/// Everything that is said of an evaluation.
struct Report {
  int64_t num_rows = 0;
  double loss = 0;
  std::vector<Score> scores;
  std::optional<Baseline> baseline;
  // Classification only.
  std::vector<std::string> labels;
  std::vector<ClassScores> classes;  // [labels]
  ConfusionMatrix confusion;
  // Several targets only.
  std::vector<std::string> target_names;
  std::vector<TargetScores> targets;  // [target_names]
};

/// The baseline is that of data::Schema::target_means: of classes the most frequent one, with the
/// frequencies as probabilities; of numbers the mean. There is none where these are not known.
Report make_report(const Judged& judged, double loss);

/// {"rows", "loss", each score, "baseline": {each score}, "classes", "confusion_matrix",
/// "targets"}; what is not finite is null.
nlohmann::ordered_json to_json(const Report& report);

/// "accuracy 97.78 %, F1 97.75 %, AUROC 0.9991, loss 0.0539".
std::string summary_text(const Report& report);

/// Lines of a name and a text: the summary under the name of `part`, behind it `remark`; the
/// further scores; the baseline, and a sentence where it is not beaten. Each ends with a line
/// break.
std::string result_lines(const std::string& part, const Report& report,
                         const std::string& remark = "");

/// A table of the classes and the confusion matrix, or the pairs that are confused most where that
/// would be too wide for a page; a table of the targets; nothing for a single target. Lines end
/// with line breaks.
std::string details_text(const Report& report);

}  // namespace trainer::metrics
