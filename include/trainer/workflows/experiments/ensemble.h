// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/apply/evaluate.h"
#include "trainer/config/types.h"
#include "trainer/metrics/score.h"
#include "trainer/workflows/experiments/runs.h"

namespace trainer::experiments {

/// What an ensemble has beside a series of runs.
struct EnsembleRequest : SeriesRequest {
  int64_t num_members = 0;                   // 0: `members`, else 5, or as in the resumed ensemble
  std::vector<config::Recipe> recipes = {};  // members take them in turn; empty: as configured
  /// Called with the best value of each member: "member 2/5", "validation accuracy", 0.95.
  std::function<void(const std::string& name, const std::string& metric, double value)> on_member =
      {};
};

/// How the training of an ensemble ended, and its metrics.
struct EnsembleReport : SeriesReport {
  int64_t num_members = 0;
  /// Of all members together: the test split, or without one the out-of-fold rows, each of which is
  /// predicted by the member that has not seen it; nothing if there are neither.
  std::optional<apply::EvaluationResult> result = {};
  std::vector<metrics::Score> member_means = {};  // the mean scores of the members; of a test split
  std::string json = {};                          // the content of summary.json
};

/// Trains the members, each in its own run folder within the folder of the ensemble, and writes
/// ensemble.json and, with the metrics of all members together, summary.json. Each member has
/// another seed (training.seed) and, unless the configuration names a validation split, another
/// part of the rows as its validation split (data.validation_folds). Members of several recipes
/// share the preprocessing (the keys of `data`) of the first. With `resume`, trains only the
/// members that are missing, incomplete or have other settings. The ranks of a launcher share the
/// members, and rank 0 writes these files. Throws Error(kUsage) for settings that do not fit the
/// folder, Error(kCheckpoint) for a folder that is not of this ensemble, Error(kFileSystem) if
/// another process uses the folder, and the errors of `train`.
EnsembleReport train_ensemble(const EnsembleRequest& request);

}  // namespace trainer::experiments
