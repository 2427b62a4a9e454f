// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trainer/workflows/experiments/runs.h"

#include "workflows/experiments/run_series.h"

namespace trainer::experiments {

/// Whether a signal stopped the runs before all were complete.
struct SeriesEnd {
  int stop_signal = 0;       // signal that stopped a run or the wait for one; else 0
  std::string stopped = {};  // name of that run
};

/// A function that is called with the index and the folder of a complete run.
using OnComplete = std::function<void(std::size_t index, const std::filesystem::path& run_dir)>;

/// Completes the runs, and calls `on_complete` for one after the other. Without a launcher,
/// series.max_processes processes share them, of which this one is rank 0. If several ranks share
/// them, each rank takes the first run that is neither complete nor being trained, until there is
/// none. Rank 0 then waits for the others, takes over runs that they left incomplete, and is the
/// only one to call `on_complete`.
/// Throws the errors of `train`, and Error(kFileSystem) if the ranks do not share the folder or its
/// file system has no locks.
SeriesEnd complete_runs(RunSeries& series, const std::vector<SeriesRun>& runs,
                        const TrainFunction& train, const OnComplete& on_complete);

}  // namespace trainer::experiments
