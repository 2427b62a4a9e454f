// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trainer/experiments/runs.h"

#include "experiments/run_series.h"

namespace trainer::experiments {

/// A run and its name in messages: "fold 2/5".
struct NamedRun {
  SeriesRun run;
  std::string name;
};

/// How all runs ended.
struct SeriesEnd {
  int stop_signal = 0;       // if a signal stopped a run, or the wait for one
  std::string stopped = {};  // the name of that run
};

/// What is called with the index of a complete run and its folder.
using OnComplete = std::function<void(std::size_t index, const std::filesystem::path& run_dir)>;

/// Completes the runs, and calls `on_complete` for one after the other. If ranks share them, each
/// takes the first one that is neither complete nor being trained, until there is none. Rank 0 then
/// waits for the others, takes over what one of them left behind, and alone calls `on_complete`.
/// Throws the errors of `train`, and Error(kFileSystem) if ranks do not share the folder, or its
/// file system has no locks.
SeriesEnd complete_runs(const RunSeries& series, const std::vector<NamedRun>& runs,
                        const TrainFunction& train, const OnComplete& on_complete);

}  // namespace trainer::experiments
