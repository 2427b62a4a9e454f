// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config/load.h"
#include "trainer/launch/place.h"
#include "trainer/metrics/folds.h"
#include "trainer/workflows/experiments/runs.h"

namespace trainer::experiments {

/// The configuration of a cross-validation, and whether to start or to resume it.
struct CrossValidationRequest {
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;
  std::optional<std::filesystem::path> resume;  // the folder of an interrupted cross-validation
  bool resumes_same = false;  // resumes the newest one with the same settings, if there is any
  int64_t num_folds = 0;      // 0: data.folds, or 5
  int64_t num_repeats = 0;    // 0: one, or as in the resumed cross-validation
  /// Whether the runs become the members of an ensemble, which share their preprocessing.
  bool ensemble = false;
  TrainFunction train;
  launch::Environment environment = {};  // with the launcher's variables; empty: no launcher
  /// Called with each result and the name of its run, "fold 2/5" or "fold 2/5 of repeat 1/3".
  std::function<void(const metrics::FoldResult&, const std::string& name)> on_result;
};

/// The metrics of the folds, and how the cross-validation ended.
struct CrossValidationReport {
  std::filesystem::path folder;
  bool is_collected = true;  // false on ranks other than 0, which get no results
  std::vector<metrics::FoldResult> results;
  metrics::FoldCounts counts;
  int stop_signal = 0;  // signal that stopped a run; the remaining ones were not trained
  std::string stopped;  // the name of the stopped run
  bool is_ensemble = false;
};

/// Trains one run for each fold and repeat, each in its own run folder within the folder of the
/// cross-validation. Writes cv.json after each run, out_of_fold.csv at the end, and for an ensemble
/// also ensemble.json. With `resume`, trains only the runs that are missing, incomplete or have
/// other settings. The ranks of a launcher share the runs, and rank 0 writes these files.
/// Throws Error(kUsage) for settings that do not fit the folder, Error(kCheckpoint) for a folder
/// that is not of this cross-validation, Error(kFileSystem) if another process uses the folder, and
/// the errors of `train`.
CrossValidationReport cross_validate(const CrossValidationRequest& request);

}  // namespace trainer::experiments
