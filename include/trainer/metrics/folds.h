// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/base/text/document.h"
#include "trainer/metrics/score.h"

namespace trainer::metrics {

/// The result of one run of a cross-validation on its fold.
struct FoldResult {
  int64_t fold = 1;
  int64_t repeat = 1;
  std::string run;            // name of the run folder
  int64_t best_epoch = 0;     // 0: unknown
  int64_t num_rows = 0;       // rows of the fold
  std::vector<Score> scores;  // including the loss
  std::vector<Score> baseline = {};
};

/// The size of a cross-validation, which has folds * repeats runs.
struct FoldCounts {
  int64_t folds = 0;
  int64_t repeats = 1;
};

/// The mean of a score over the folds, and its sample standard deviation (n - 1); 0 for a single
/// fold.
struct Spread {
  std::string name;
  double mean = 0;
  double deviation = 0;
};

/// Returns mean and deviation of each score that any fold has, over the folds that have it.
std::vector<Spread> spreads(const std::vector<FoldResult>& folds);

/// Returns the results of a cross-validation: a table with a row for each fold, and mean and
/// standard deviation of the headline scores; then, if baselines are known, a table of all scores
/// with mean, standard deviation and baseline, and a sentence if the mean does not beat the
/// baseline. As JSON: {"folds", "repeats", "runs": [{"fold", "repeat", "run", "best_epoch", "rows",
/// scores, "baseline": {score}}], "mean": {score}, "std": {score}, "baseline": {score}}; without
/// "repeat" and "repeats" if there is only one. `folds` may have fewer runs than `counts`.
Document folds_document(const std::vector<FoldResult>& folds, const FoldCounts& counts);

}  // namespace trainer::metrics
