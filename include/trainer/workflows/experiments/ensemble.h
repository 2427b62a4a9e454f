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
#include "trainer/launch/place.h"
#include "trainer/metrics/report.h"
#include "trainer/workflows/experiments/runs.h"

namespace trainer::experiments {

/// The configuration of an ensemble, and whether to start or to resume it.
struct EnsembleRequest {
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;
  std::optional<std::filesystem::path> resume;  // the folder of an interrupted ensemble
  bool resumes_same = false;  // resumes the newest one with the same settings, if there is any
  int64_t num_members = 0;    // 0: 5, or as in the resumed ensemble
  std::vector<config::Recipe> recipes;  // members take them in turn; empty: as configured
  TrainFunction train;
  launch::Environment environment = {};  // with the launcher's variables; empty: no launcher
  /// Called with the best value of each member: "member 2/5", "validation accuracy", 0.95.
  std::function<void(const std::string& name, const std::string& metric, double value)> on_member;
};

/// The metrics of an ensemble, and how its training ended.
struct EnsembleReport {
  std::filesystem::path folder;
  bool is_collected = true;                  // false on ranks other than 0, which get no results
  std::optional<metrics::Report> test = {};  // of all members together; none without a test split
  std::string json = {};                     // the content of summary.json
  int stop_signal = 0;       // signal that stopped a member; the remaining ones were not trained
  std::string stopped = {};  // the name of the stopped member
};

/// Trains the members, each in its own run folder within the folder of the ensemble, and writes
/// ensemble.json and, with the metrics of the test split, summary.json. Each member has another
/// seed (training.seed) and, unless the configuration names a validation split, another part of the
/// rows as its validation split (data.validation_folds). Members of several recipes share the
/// preprocessing (the keys of `data`) of the first. With `resume`, trains only the members that are
/// missing, incomplete or have other settings. The ranks of a launcher share the members, and rank
/// 0 writes these files.
/// Throws Error(kUsage) for settings that do not fit the folder, Error(kCheckpoint) for a folder
/// that is not of this ensemble, Error(kFileSystem) if another process uses the folder, and the
/// errors of `train`.
EnsembleReport train_ensemble(const EnsembleRequest& request);

}  // namespace trainer::experiments
