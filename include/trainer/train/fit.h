// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trainer/checkpoint/store.h"
#include "trainer/core/stopwatch.h"
#include "trainer/run/metrics.h"
#include "trainer/run/progress.h"
#include "trainer/train/evaluate.h"
#include "trainer/train/session.h"

namespace trainer::train {

/// Where a run leaves its traces.
struct Output {
  run::MetricsFile metrics;
  checkpoint::Store checkpoints;
  std::string config;  // the resolved configuration, for the checkpoints
  int64_t num_threads = 1;
  run::ProgressListener progress;

  Stopwatch epoch_time;
  Stopwatch interval_time;
  int64_t samples_done = 0;  // by this process
};

/// Trains until `session` is finished: steps, records, evaluations, checkpoints. Returns 0, or the
/// signal that asked to stop (core/stop_request.h); then last.pt is the state after the last step.
/// Throws Error(kNonFinite) with the step and the last checkpoint when loss or gradient is not
/// finite, Error(kFileSystem) when something cannot be written.
int fit(Session& session, Output& output);

/// Takes the weights of the best epoch and evaluates them on the test part, if there is one.
std::optional<Evaluation> test_best(Session& session, Output& output);

}  // namespace trainer::train
