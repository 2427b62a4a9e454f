// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <optional>
#include <string>

#include "trainer/checkpoint/store.h"
#include "trainer/core/stopwatch.h"
#include "trainer/metrics/report.h"
#include "trainer/run/metrics_log.h"
#include "trainer/run/progress.h"
#include "trainer/train/session.h"

namespace trainer::train {

/// Where a run leaves its traces.
struct Output {
  run::MetricsLog metrics;
  checkpoint::Store checkpoints;
  std::string config;  // the resolved configuration, for the checkpoints
  int64_t num_threads = 1;
  run::ProgressListener progress;

  Stopwatch epoch_time = {};
  Stopwatch interval_time = {};
  Stopwatch checkpoint_time = {};  // since the last checkpoint
  int64_t samples_done = 0;        // by this process
  int64_t samples_before = 0;      // of these, before `epoch_time` began
  bool reported_perfect_score = false;
  std::future<void> saving = {};  // a checkpoint that is being written; it ends before the rest
};

/// Saves the state before the first step, where there is no checkpoint yet: the run can be resumed
/// and rolled back from there on, and a disk that cannot be written is noticed before the work.
/// Throws Error(kFileSystem).
void save_initial(const Session& session, Output& output);

/// Trains until `session` is finished: steps, records, evaluations, checkpoints. Returns 0, or the
/// signal that asked to stop (core/signals.h); then last.pt is the state after the last step. All
/// checkpoints are on the disk when it returns.
/// Throws Error(kNonFinite) with step, rows and last checkpoint when loss or gradient is not finite
/// and training.on_nonfinite knows no way on, Error(kFileSystem) when something cannot be written.
int fit(Session& session, Output& output);

/// What the weights of the best epoch achieve on the parts that there are.
struct BestReports {
  std::optional<metrics::Report> validation;
  std::optional<metrics::Report> test;
};

/// Takes the weights of the best epoch, evaluates them, and records the test part.
BestReports evaluate_best(Session& session, Output& output);

}  // namespace trainer::train
