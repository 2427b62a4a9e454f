// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config/load.h"
#include "trainer/experiments/runs.h"
#include "trainer/launch/place.h"
#include "trainer/metrics/folds.h"

namespace trainer::experiments {

/// What to cross-validate.
struct CrossValidationRequest {
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;
  std::optional<std::filesystem::path> resume;  // the folder of an interrupted cross-validation
  bool resumes_same = false;  // goes on with the newest one of the same settings, if there is any
  int64_t num_folds = 0;      // 0: as configured, or 5
  int64_t num_repeats = 0;    // 0: one, or as before
  /// Whether the runs become the members of an ensemble, which share their preprocessing.
  bool ensemble = false;
  TrainFunction train;
  launch::Environment environment = {};  // where a launcher leaves its variables; none: alone
  /// Called with each result and the name of its run, "fold 2/5" or "fold 2/5 of repeat 1/3".
  std::function<void(const metrics::FoldResult&, const std::string& name)> on_result;
};

/// What the folds gave.
struct CrossValidationReport {
  std::filesystem::path folder;
  bool is_collected = true;  // false on other ranks than 0: nothing but folder and signal is set
  std::vector<metrics::FoldResult> results;
  metrics::FoldCounts counts;
  int stop_signal = 0;  // if a signal stopped a run; the remaining ones were not trained
  std::string stopped;  // the name of the stopped run
  bool is_ensemble = false;
};

/// Trains one run for each fold and repeat, each in its own run folder within the folder of the
/// cross-validation, and writes cv.json after each and out_of_fold.csv at the end; of an ensemble
/// also ensemble.json. With `resume`, trains only the runs that are missing, incomplete or of other
/// settings. The ranks of a launcher share the runs, and rank 0 writes these files.
/// Throws Error(kUsage) for settings that do not fit the folder, Error(kCheckpoint) for a folder
/// that is not of this cross-validation, Error(kFileSystem) if another process uses the folder, and
/// the errors of `train`.
CrossValidationReport cross_validate(const CrossValidationRequest& request);

}  // namespace trainer::experiments
