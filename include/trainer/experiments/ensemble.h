// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config/load.h"
#include "trainer/config/types.h"
#include "trainer/experiments/runs.h"
#include "trainer/launch/place.h"
#include "trainer/metrics/report.h"

namespace trainer::experiments {

/// An ensemble to train.
struct EnsembleRequest {
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;
  std::optional<std::filesystem::path> resume;  // the folder of an interrupted one
  bool resumes_same = false;  // goes on with the newest one of the same settings, if there is any
  int64_t num_members = 0;    // 0: 5, or as before
  std::vector<config::Recipe> recipes;  // that members take in turn; none: as configured
  TrainFunction train;
  launch::Environment environment = {};  // where a launcher leaves its variables; none: alone
  /// Called with the best value of each member: "member 2/5", "validation accuracy", 0.95.
  std::function<void(const std::string& name, const std::string& metric, double value)> on_member;
};

/// What the ensemble achieved.
struct EnsembleReport {
  std::filesystem::path folder;
  bool is_collected = true;  // false on other ranks than 0: nothing but folder and signal is set
  std::optional<metrics::Report> test = {};  // of all members together; none without a test split
  std::string json = {};                     // what is in summary.json
  int stop_signal = 0;       // if a signal stopped a member; the others were not trained
  std::string stopped = {};  // the name of the stopped member
};

/// Trains the members, each in its own run folder within the folder of the ensemble, and writes
/// ensemble.json and, with the metrics of the test split, summary.json. Each member has another
/// seed (training.seed) and, unless the configuration names a validation split, another part of the
/// rows as its validation split (data.validation_folds). Members of several recipes share the
/// preprocessing (the keys of `data`) of the first. With `resume`, trains only the members
/// that are missing, incomplete or of other settings. The ranks of a launcher share the members,
/// and rank 0 writes these files. Throws Error(kUsage) for settings that do not fit the folder,
/// Error(kCheckpoint) for a folder that is not of this ensemble, Error(kFileSystem) if another
/// process uses the folder, and the errors of `train`.
EnsembleReport train_ensemble(const EnsembleRequest& request);

}  // namespace trainer::experiments
