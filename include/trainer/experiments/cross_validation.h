// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/resume_point.h"
#include "trainer/config/load.h"
#include "trainer/metrics/folds.h"

namespace trainer::experiments {

/// The run of one fold, as it is to be trained.
struct FoldJob {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;  // where it was interrupted
};

/// How such a run ended.
struct FoldOutcome {
  std::filesystem::path run_dir;
  int stop_signal = 0;  // of core/signals.h, if one ended it, with its state saved
};

struct CrossValidationRequest {
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;
  std::optional<std::filesystem::path> resume;  // the folder of one that was interrupted
  int64_t num_folds = 0;                        // 0: as configured, or 5
  int64_t num_repeats = 0;                      // 0: one, or as before the interruption
  std::function<FoldOutcome(const FoldJob&)> train;
  /// Gets each result and the name of its run, "fold 2/5" or "fold 2/5 of repeat 1/3".
  std::function<void(const metrics::FoldResult&, const std::string& name)> on_result;
};

struct CrossValidationReport {
  std::filesystem::path folder;
  std::vector<metrics::FoldResult> results;
  std::string json;     // what is in cv.json
  int stop_signal = 0;  // if a signal ended a run; then the rest was not trained
  std::string stopped;  // the name of that run
};

/// Trains one run for each fold and repeat, each in a run folder of its own within the folder of
/// the cross-validation, and writes cv.json after each and out_of_fold.csv at the end. With
/// `resume`, only runs that are missing, incomplete or of other settings are trained.
/// Throws Error(kUsage) for settings that do not fit the folder, Error(kCheckpoint) for a folder
/// that is no cross-validation or one of another configuration, Error(kFileSystem) when another
/// process works in it, and what `train` throws.
CrossValidationReport cross_validate(const CrossValidationRequest& request);

}  // namespace trainer::experiments
