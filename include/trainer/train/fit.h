// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "trainer/base/time/stopwatch.h"
#include "trainer/metrics/report.h"
#include "trainer/report/tensorboard/event_file.h"
#include "trainer/run/checkpoint/store.h"
#include "trainer/run/folder/metrics_log.h"
#include "trainer/train/session.h"

namespace trainer::train {

/// The destinations of fit() for metrics, checkpoints and progress, and the state of writing them.
/// Only the first process of a run writes files.
struct Output {
  run::MetricsLog metrics;
  checkpoint::Store checkpoints;
  std::string config;  // the resolved configuration, for the checkpoints
  int64_t num_threads = 1;
  run::ProgressListener progress;
  int64_t max_threads = 0;  // the most threads that are tried during the run; 0: the number stays
  double first_thread_trial = 10;  // after so many seconds of steps
  /// Called after the number of threads has changed, with the number of steps so far.
  std::function<void(int64_t step, int64_t num_threads)> threads_changed = {};
  tensorboard::EventFile events = {};  // for TensorBoard; without a file unless it is asked for

  Stopwatch epoch_time = {};
  Stopwatch interval_time = {};
  Stopwatch checkpoint_time = {};   // since the last checkpoint
  int64_t samples_done = 0;         // by this process
  int64_t samples_before = 0;       // of these, the samples before `epoch_time` was started
  double communication_before = 0;  // World::seconds_waited() at that time
  bool reported_perfect_score = false;
  /// A checkpoint that is being written. It is the last member, so that its destructor waits before
  /// the others are destroyed.
  std::future<void> saving = {};
};

/// Saves the state before the first step, unless last.pt exists already. So the run can be resumed
/// and rolled back at any time, and an unwritable disk is noticed early. Throws Error(kFileSystem).
void save_initial(const Session& session, Output& output);

/// Trains until `session` is finished, and writes records, evaluations and checkpoints. Returns 0,
/// or the signal that asked to stop (base/signals.h); then last.pt has the state after the last
/// step. All checkpoints are on disk when it returns. All processes of the run call it, and return
/// together. Throws Error(kNonFinite) with step, rows and last checkpoint if loss or gradient is
/// not finite and training.on_nonfinite is stop, or after too many rollbacks; Error(kFileSystem) if
/// a file cannot be written; Error(kDevice) if an accelerator fails.
int fit(Session& session, Output& output);

/// The metrics of the weights of the best epoch. A split without rows has no report.
struct BestReports {
  std::optional<metrics::Report> validation;
  std::optional<metrics::Report> test;
};

/// Evaluates the weights of the best epoch on both splits, and appends a record for the test split.
/// Afterwards the session has these weights.
BestReports evaluate_best(Session& session, Output& output);

}  // namespace trainer::train
