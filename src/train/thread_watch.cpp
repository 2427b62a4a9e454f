// SPDX-License-Identifier: Apache-2.0
#include "train/thread_watch.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/time/timeline.h"
#include "trainer/train/out_of_memory.h"
#include "trainer/train/trials.h"

namespace trainer::train {
namespace {

constexpr double kWindowSeconds = 1;
constexpr double kSlower = 1.5;
constexpr int kSlowWindows = 2;
constexpr double kClearlySlower = 1.2;  // than with another number of threads
constexpr double kShortInterval = 10;
constexpr double kLongestInterval = 320;
constexpr double kMaxShareOfTime = 0.01;
constexpr double kMaxSecondsAtStart = 0.3;

// Returns the trial with this number of threads; null if there was none.
const ThreadTrial* find_trial(const std::vector<ThreadTrial>& trials, int64_t num_threads) {
  const auto found = std::find_if(trials.begin(), trials.end(), [&](const ThreadTrial& trial) {
    return trial.num_threads == num_threads;
  });
  return found == trials.end() ? nullptr : &*found;
}

// Returns the present number of threads unless another one is clearly faster.
int64_t chosen_threads(const std::vector<ThreadTrial>& trials, int64_t present) {
  const int64_t best = min_fast_threads(trials);
  const ThreadTrial* now = find_trial(trials, present);
  const bool is_clear =
      now == nullptr || now->step_seconds > kClearlySlower * find_trial(trials, best)->step_seconds;
  return is_clear ? best : present;
}

}  // namespace

bool ThreadTrialTimes::add_steps(int64_t count, double seconds) {
  total_ += seconds;
  since_trial_ += seconds;
  window_steps_ += count;
  window_seconds_ += seconds;
  if (window_seconds_ < kWindowSeconds || window_steps_ == 0) return false;
  mean_ = window_seconds_ / static_cast<double>(window_steps_);
  fastest_ = fastest_ == 0 ? mean_ : std::min(fastest_, mean_);
  num_slow_ = mean_ > kSlower * fastest_ ? num_slow_ + 1 : 0;
  window_steps_ = 0;
  window_seconds_ = 0;
  return true;
}

bool ThreadTrialTimes::is_due() const {
  if (trials_ > kMaxSecondsAtStart + kMaxShareOfTime * total_) return false;
  return num_slow_ >= kSlowWindows || since_trial_ >= interval_;
}

void ThreadTrialTimes::add_trial(double seconds, TrialResult result) {
  trials_ += seconds;
  since_trial_ = window_seconds_ = mean_ = fastest_ = 0;
  window_steps_ = 0;
  num_slow_ = 0;
  if (result == TrialResult::kChanged) {
    interval_ = kShortInterval;
  } else {
    const bool is_close = result == TrialResult::kClose;
    interval_ = std::min(2 * interval_, is_close ? kShortInterval : kLongestInterval);
  }
}

void ThreadWatch::after_steps(Session& session, Output& output, int64_t count, double seconds) {
  if (output.max_threads < 2 || !uses_kernels(session) || finished(session)) return;
  const bool is_complete = times_.add_steps(count, seconds);
  if (before_ != 0) {
    if (is_complete) confirm(session, output);
  } else if (times_.is_due()) {
    try_again(session, output);
  }
}

void ThreadWatch::try_again(Session& session, Output& output) {
  const TimedStage timed(Stage::kTryThreads);
  const Stopwatch stopwatch;
  const double mean = times_.mean();
  const int64_t present = output.num_threads;
  const std::vector<ThreadTrial> trials = try_threads(session, output.max_threads);
  output.num_threads = chosen_threads(trials, present);
  use_threads_within_memory(session, output.num_threads);
  times_.add_trial(stopwatch.seconds(),
                   are_close(trials) ? TrialResult::kClose : TrialResult::kSame);
  if (output.num_threads == present) return;
  before_ = present;
  mean_before_ = mean;
}

void ThreadWatch::confirm(Session& session, Output& output) {
  const int64_t before = std::exchange(before_, 0);
  if (mean_before_ != 0 && times_.mean() * kClearlySlower > mean_before_) {
    output.num_threads = before;
    use_threads_within_memory(session, before);
    times_.add_trial(0, TrialResult::kSame);
    return;
  }
  const double mean = times_.mean();
  times_.add_trial(0, TrialResult::kChanged);
  const std::string old =
      mean_before_ == 0 ? "" : fmt::format(" in place of {:.3g} ms", 1e3 * mean_before_);
  log::event("threads",
             fmt::format("the machine has changed: {} in place of {} (a step takes {:.3g} ms{})",
                         counted(output.num_threads, "thread"), before, 1e3 * mean, old),
             {{"step", session.state.position.step}, {"threads", output.num_threads}});
  if (output.threads_changed) {
    output.threads_changed(session.state.position.step, output.num_threads);
  }
}

}  // namespace trainer::train
