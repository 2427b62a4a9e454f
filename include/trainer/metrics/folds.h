// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/core/document.h"
#include "trainer/metrics/score.h"

namespace trainer::metrics {

/// What a run of a cross-validation achieved on its fold.
struct FoldResult {
  int64_t fold = 1;
  int64_t repeat = 1;
  std::string run;            // name of the run folder
  int64_t best_epoch = 0;     // 0: not known
  int64_t num_rows = 0;       // of the fold
  std::vector<Score> scores;  // the loss among them
  std::vector<Score> baseline = {};
};

/// How many runs a cross-validation has: folds * repeats.
struct FoldCounts {
  int64_t folds = 0;
  int64_t repeats = 1;
};

/// Of a score over the folds: their mean, and their standard deviation as that of a sample (n - 1).
struct Spread {
  std::string name;
  double mean = 0;
  double deviation = 0;
};

/// One for each score of the first fold.
std::vector<Spread> spreads(const std::vector<FoldResult>& folds);

/// A row a fold, then mean and spread of the scores that people look at first; behind them, of all
/// scores, mean, spread and baseline; and a sentence where the mean does not beat the baseline.
/// Programs: {"folds", "repeats", "runs": [{"fold", "repeat", "run", "best_epoch", "rows", scores,
/// "baseline": {score}}], "mean": {score}, "std": {score}, "baseline": {score}}; `folds` may lack
/// some of `counts`, and repeats are left out where there is one.
Document folds_document(const std::vector<FoldResult>& folds, const FoldCounts& counts);

}  // namespace trainer::metrics
