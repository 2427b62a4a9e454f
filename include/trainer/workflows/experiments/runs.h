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
#include "trainer/run/checkpoint/resume_point.h"

namespace trainer::experiments {

/// A run to train, one of several.
struct RunJob {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume = {};  // the checkpoint of an interrupted run
  launch::Place place = {};  // rank of this process among those that share the runs
  std::string name = {};     // in messages, such as "fold 2/5"
  int64_t num_left = 0;      // number of other runs that are not complete yet, of all ranks
};

/// The folder of a run, and whether a signal stopped it.
struct RunOutcome {
  std::filesystem::path run_dir;
  int stop_signal = 0;  // (base/signals.h) signal that stopped it, with its state saved
};

/// Trains a run. This calls the engine; tests use functions of their own.
using TrainFunction = std::function<RunOutcome(const RunJob&)>;

/// The configuration of a series of runs, and whether to start or to resume it.
struct SeriesRequest {
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;
  std::optional<std::filesystem::path> resume = {};  // the folder of an interrupted series
  bool resumes_same = false;  // resumes the newest one with the same settings, if there is any
  TrainFunction train = {};
  std::function<void()> prepare = {};    // loads what `train` needs; called before it, or never
  launch::Environment environment = {};  // with the launcher's variables; empty: no launcher
};

/// How a series ended.
struct SeriesReport {
  std::filesystem::path folder;
  bool is_collected = true;  // false on ranks other than 0, which get no results
  int stop_signal = 0;       // signal that stopped a run; the remaining ones were not trained
  std::string stopped = {};  // the name of the stopped run
};

/// Returns the command that trained the runs in `folder`: "cv", "ensemble" or "search"; an empty
/// text for a folder without such runs, such as the folder of a single run.
std::string series_command(const std::filesystem::path& folder);

}  // namespace trainer::experiments
