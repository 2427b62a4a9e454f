// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/metrics/classification.h"
#include "trainer/metrics/outputs.h"
#include "trainer/metrics/regression.h"
#include "trainer/metrics/score.h"

namespace trainer::metrics {

/// Outputs of a model and the labels or numbers that they should be.
struct LabelledOutputs {
  const data::Schema& schema;
  const data::Dataset& rows;
  Outputs outputs;  // [rows, outputs] of the model, of scaled targets
};

/// Which rankings are among the scores: the AUROC of two classes, which sorts the rows once; or the
/// areas under both curves of any number of classes, which sorts them for each, and then the scores
/// of probabilities too.
enum class Ranking { kOfTwoClasses, kOfAll };

/// All scores of the task but the loss.
std::vector<Score> scores(const LabelledOutputs& labelled, Ranking ranking);

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
Report make_report(const LabelledOutputs& labelled, double loss);

}  // namespace trainer::metrics
