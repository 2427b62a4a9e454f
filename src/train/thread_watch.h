// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/train/fit.h"
#include "trainer/train/session.h"

// A run that begins beside a compiler is fastest with one thread, and one that begins on a quiet
// machine waits at each barrier for a thread that something else delays later. The results of the
// fused step do not depend on the number of threads, so it follows the machine: threads are tried
// again when steps have become slower for some time, and now and then, as nothing tells a run that
// the machine has become quiet.
namespace trainer::train {

/// When threads are to be tried again, from the times of steps alone.
class ThreadTrialTimes {
 public:
  /// Steps that took so long together.
  void add_steps(int64_t count, double seconds);

  /// Whether it is time. Trials take one percent of the time, and a moment at the start.
  bool is_due() const;

  /// What the trial took, and whether another number of threads came of it.
  void add_trial(double seconds, bool has_changed);

 private:
  double total_ = 0;        // seconds of all steps
  double trials_ = 0;       // and of all trials
  double since_trial_ = 0;  // of steps
  double interval_ = 10;    // of `since_trial_`
  int64_t window_steps_ = 0;
  double window_seconds_ = 0;
  double fastest_ = 0;  // mean of a step in a window, since the last trial; 0: none
  int num_slow_ = 0;    // windows since a fast one
};

/// Changes the number of threads of a run.
class ThreadWatch {
 public:
  /// After steps of the session that took so long: tries threads if it is time, where
  /// `output.max_threads` allows it, and says so if their number changes.
  void after_steps(Session& session, Output& output, int64_t count, double seconds);

 private:
  ThreadTrialTimes times_;
};

}  // namespace trainer::train
