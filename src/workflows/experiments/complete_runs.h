// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
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

/// The folders of complete runs by their tags.
using CompleteRuns = std::map<std::string, std::filesystem::path>;

/// The runs of a series. They may depend on what others found; each rank works that out alone.
struct RunPlan {
  /// The runs that follow from those that are complete, in the order in which they are to begin.
  /// Those that are complete may be left out.
  std::function<std::vector<SeriesRun>(const CompleteRuns&)> runs;
  bool grows = false;  // whether more runs may follow when one is complete
  /// Whether a run that no rank is training may begin; if not, it is never asked again.
  std::function<bool(const SeriesRun&)> may_begin = [](const SeriesRun&) { return true; };
  /// Called on rank 0 when more runs are complete.
  std::function<void(const CompleteRuns&)> on_progress;
};

/// Completes the runs of a plan. Without a launcher, series.max_processes processes share them, of
/// which this one is rank 0. If several ranks share them, each rank takes the first run that is
/// neither complete nor being trained, until there is none. Rank 0 then waits for the others, and
/// takes over runs that they left incomplete.
/// Throws the errors of `train`, and Error(kFileSystem) if the ranks do not share the folder or its
/// file system has no locks.
SeriesEnd complete_plan(RunSeries& series, const RunPlan& plan, const TrainFunction& train);

/// A function that is called with the index and the folder of a complete run.
using OnComplete = std::function<void(std::size_t index, const std::filesystem::path& run_dir)>;

/// Completes these runs in the same way. Rank 0 calls `on_complete` for one after the other.
SeriesEnd complete_runs(RunSeries& series, const std::vector<SeriesRun>& runs,
                        const TrainFunction& train, const OnComplete& on_complete);

}  // namespace trainer::experiments
