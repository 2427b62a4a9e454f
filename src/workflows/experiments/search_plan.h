// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "trainer/base/time/stopwatch.h"

#include "workflows/experiments/complete_runs.h"
#include "workflows/experiments/run_series.h"
#include "workflows/experiments/search_series.h"

/// Which runs of a search come next. Every process works this out by itself, from the runs that are
/// complete.
namespace trainer::experiments {

/// A trial that a process knows of. Its runs are complete, being trained, or to come.
struct KnownTrial {
  Trial trial;
  std::vector<SeriesRun> folds = {};
  std::vector<double> seconds = {};       // that each fold took; 0 until it is complete
  std::optional<bool> is_promising = {};  // whether the other folds are wanted too
};

/// The trials of a search.
struct SearchPlan {
  const SearchSeries& search;
  std::vector<KnownTrial> known = {};  // by number
  Stopwatch stopwatch = {};
};

/// The seconds that all starts of the search have taken.
double seconds_used(const SearchPlan& plan);

/// Whether all wanted folds of a trial are complete, or it failed.
bool is_over(const KnownTrial& known);

/// The runs of the trials that are not over, as many as there are processes for them. Notes what
/// the complete ones found.
std::vector<SeriesRun> next_runs(const CompleteRuns& complete, SearchPlan& plan);

/// Whether there is time for the run; and if it is the first of a trial, for all of its folds.
bool has_time(const SearchPlan& plan, const SeriesRun& run);

/// Trains a fold. A trial that fails is over, except for the first, whose error is thrown. It
/// leaves a file, so that no process tries it again.
RunOutcome train_fold(const SearchPlan& plan, const TrainFunction& train, const RunJob& job);

}  // namespace trainer::experiments
