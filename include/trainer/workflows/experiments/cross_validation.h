// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainer/metrics/folds.h"
#include "trainer/workflows/experiments/runs.h"

namespace trainer::experiments {

/// The number of folds where neither the user nor data.folds says another one.
inline constexpr int64_t kDefaultFolds = 5;

/// What a cross-validation has beside a series of runs.
struct CrossValidationRequest : SeriesRequest {
  int64_t num_folds = 0;    // 0: data.folds, or 5
  int64_t num_repeats = 0;  // 0: one, or as in the resumed cross-validation
  /// Called with each result and the name of its run, "fold 2/5" or "fold 2/5 of repeat 1/3".
  std::function<void(const metrics::FoldResult&, const std::string& name)> on_result = {};
};

/// How a cross-validation ended, and the metrics of the folds.
struct CrossValidationReport : SeriesReport {
  std::vector<metrics::FoldResult> results;
  metrics::FoldCounts counts;
};

/// Trains one run for each fold and repeat, each in its own run folder within the folder of the
/// cross-validation. Writes cv.json after each run, out_of_fold.csv at the end. With `resume`,
/// trains only the runs that are missing, incomplete or have other settings. The ranks of a
/// launcher share the runs, and rank 0 writes these files. Throws Error(kUsage) for settings that
/// do not fit the folder, Error(kCheckpoint) for a folder that is not of this cross-validation,
/// Error(kFileSystem) if another process uses the folder, and the errors of `train`.
CrossValidationReport cross_validate(const CrossValidationRequest& request);

}  // namespace trainer::experiments
