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
  /// Steps that took so long together. Returns whether they complete a window of a second.
  bool add_steps(int64_t count, double seconds);

  /// Mean seconds of a step in the last complete window; 0: there is none since the last trial.
  double mean() const { return mean_; }

  /// Whether it is time. Trials take one percent of the time, and a moment at the start.
  bool is_due() const;

  /// What the trial took. Without a change they become rarer.
  void add_trial(double seconds, bool has_changed);

 private:
  double total_ = 0;        // seconds of all steps
  double trials_ = 0;       // and of all trials
  double since_trial_ = 0;  // of steps
  double interval_ = 10;    // of `since_trial_`
  int64_t window_steps_ = 0;
  double window_seconds_ = 0;
  double mean_ = 0;
  double fastest_ = 0;  // of the means since the last trial; 0: none
  int num_slow_ = 0;    // windows since a fast one
};

/// Changes the number of threads of a run. What a trial of milliseconds says has to be true for a
/// second, else the number before comes back.
class ThreadWatch {
 public:
  /// After steps of the session that took so long: tries threads if it is time, where
  /// `output.max_threads` allows it, and says so if their number has changed.
  void after_steps(Session& session, Output& output, int64_t count, double seconds);

 private:
  void try_again(Session& session, Output& output);
  void confirm(Session& session, Output& output);

  ThreadTrialTimes times_;
  int64_t before_ = 0;      // the number of threads that may come back; 0: none
  double mean_before_ = 0;  // seconds of a step with them
};

}  // namespace trainer::train
