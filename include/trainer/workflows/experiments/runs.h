// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "trainer/config/load.h"
#include "trainer/launch/place.h"
#include "trainer/run/checkpoint/resume_point.h"

namespace trainer::experiments {

/// A run to train, one of several.
struct RunJob {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;  // the checkpoint of an interrupted run
  launch::Place place = {};  // rank of this process among those that share the runs
};

/// The folder of a run, and whether a signal stopped it.
struct RunOutcome {
  std::filesystem::path run_dir;
  int stop_signal = 0;  // (base/signals.h) signal that stopped it, with its state saved
};

/// Trains a run. This calls the engine; tests use functions of their own.
using TrainFunction = std::function<RunOutcome(const RunJob&)>;

}  // namespace trainer::experiments
