// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "trainer/checkpoint/resume_point.h"
#include "trainer/config/load.h"
#include "trainer/launch/place.h"

namespace trainer::experiments {

/// One of several runs, to be trained.
struct RunJob {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;  // the checkpoint of an interrupted run
  launch::Place place = {};  // of this process among those that train others of the runs
};

/// How a run ended.
struct RunOutcome {
  std::filesystem::path run_dir;
  int stop_signal = 0;  // of core/signals.h, if one ended it, with its state saved
};

/// Trains a run: the engine, or in tests what stands for it.
using TrainFunction = std::function<RunOutcome(const RunJob&)>;

}  // namespace trainer::experiments
