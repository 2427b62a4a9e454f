// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "trainer/checkpoint/store.h"
#include "trainer/core/stopwatch.h"
#include "trainer/dvclive/live_files.h"
#include "trainer/metrics/report.h"
#include "trainer/run/metrics_log.h"
#include "trainer/run/progress.h"
#include "trainer/tensorboard/event_file.h"
#include "trainer/train/session.h"

namespace trainer::train {

/// Where fit() writes metrics, checkpoints and progress, and the state of that. Only the first
/// process of a run writes files.
struct Output {
  run::MetricsLog metrics;
  checkpoint::Store checkpoints;
  std::string config;  // the resolved configuration, for the checkpoints
  int64_t num_threads = 1;
  run::ProgressListener progress;
  int64_t max_threads = 0;  // as many may be tried while it runs; 0: their number stays
  /// Called after their number has changed.
  std::function<void(int64_t step, int64_t num_threads)> threads_changed = {};
  tensorboard::EventFile events = {};  // for TensorBoard; of no file unless it is asked for
  dvclive::LiveFiles live_files = {};  // for DVC; of no folder unless it is asked for

  Stopwatch epoch_time = {};
  Stopwatch interval_time = {};
  Stopwatch checkpoint_time = {};   // since the last checkpoint
  int64_t samples_done = 0;         // by this process
  int64_t samples_before = 0;       // of these, before `epoch_time` began
  double communication_before = 0;  // World::seconds_waited() then
  bool reported_perfect_score = false;
  std::future<void> saving =
      {};  // a checkpoint that is being written; the last member, so that it is waited for first
};

/// Saves the state before the first step, unless there is a checkpoint already. The run can then be
/// resumed and rolled back, and a disk that cannot be written is noticed early.
/// Throws Error(kFileSystem).
void save_initial(const Session& session, Output& output);

/// Trains until `session` is finished: steps, records, evaluations, checkpoints. Returns 0, or the
/// signal that asked to stop (core/signals.h); then last.pt has the state after the last step. All
/// checkpoints are on disk when it returns. All processes of the run call it, and return together.
/// Throws Error(kNonFinite) with step, rows and last checkpoint if loss or gradient is not finite
/// and training.on_nonfinite says stop (or gives up), Error(kFileSystem) if something cannot be
/// written.
int fit(Session& session, Output& output);

/// The metrics of the best epoch's weights on those splits that have rows.
struct BestReports {
  std::optional<metrics::Report> validation;
  std::optional<metrics::Report> test;
};

/// Evaluates the weights of the best epoch, and appends a record of the test split. The session has
/// these weights afterwards.
BestReports evaluate_best(Session& session, Output& output);

}  // namespace trainer::train
