// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/train/fit.h"
#include "trainer/train/session.h"

// A run that begins while a compiler uses the machine is fastest with one thread. A run that begins
// on an idle machine waits at each barrier for a thread that another program delays later. The
// results of the fused step do not depend on the number of threads, so the number is adapted to the
// machine: threads are tried again when steps have become slower for some time, and regularly,
// because nothing tells a run that the machine has become idle; soon where the last trial was
// close.
namespace trainer::train {

/// What a trial has shown: nothing new, numbers of threads that are nearly as fast as each other,
/// or a faster number.
enum class TrialResult { kSame, kClose, kChanged };

/// Decides from the times of steps when threads are tried again.
class ThreadTrialTimes {
 public:
  explicit ThreadTrialTimes(double first_interval) : interval_(first_interval) {}

  /// Adds `count` steps that took `seconds` together. Returns whether they complete a window of one
  /// second.
  bool add_steps(int64_t count, double seconds);

  /// The mean seconds of a step in the last complete window; 0 if there is none since the last
  /// trial.
  double mean() const { return mean_; }

  /// Whether a trial is due. Trials take at most one percent of the time, plus 0.3 s at the start.
  bool is_due() const;

  /// Adds the duration of a trial. As long as trials do not change the number of threads, they
  /// become rarer, but stay frequent where they are close.
  void add_trial(double seconds, TrialResult result);

 private:
  double total_ = 0;        // seconds of all steps
  double trials_ = 0;       // seconds of all trials
  double since_trial_ = 0;  // seconds of steps since the last trial
  double interval_;         // the value of since_trial_ at which the next trial is due
  int64_t window_steps_ = 0;
  double window_seconds_ = 0;
  double mean_ = 0;
  double fastest_ = 0;  // smallest mean since the last trial; 0: none
  int num_slow_ = 0;    // consecutive slow windows
};

/// Changes the number of threads of a run. A trial takes only milliseconds, so its result must hold
/// for a window of one second; else the previous number is restored.
class ThreadWatch {
 public:
  explicit ThreadWatch(double first_interval) : times_(first_interval) {}

  /// Called after `count` steps of the session that took `seconds` together. Tries threads if that
  /// is due and `output.max_threads` allows it, and logs if their number has changed.
  void after_steps(Session& session, Output& output, int64_t count, double seconds);

 private:
  void try_again(Session& session, Output& output);
  void confirm(Session& session, Output& output);

  ThreadTrialTimes times_;
  // The previous number of threads, until the new one is confirmed; 0: none.
  int64_t before_ = 0;
  double mean_before_ = 0;  // seconds of a step with that number
};

}  // namespace trainer::train
