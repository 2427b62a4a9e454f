// SPDX-License-Identifier: Apache-2.0
#include "train/thread_watch.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/json.h"  // IWYU pragma: keep
#include "trainer/core/log.h"
#include "trainer/core/stopwatch.h"
#include "trainer/core/time_scopes.h"
#include "trainer/core/timeline.h"
#include "trainer/train/out_of_memory.h"
#include "trainer/train/thread_trials.h"

namespace trainer::train {
namespace {

constexpr double kWindowSeconds = 1;
constexpr double kSlower = 1.5;
constexpr int kSlowWindows = 2;
constexpr double kFirstInterval = 10;
constexpr double kLongestInterval = 320;
constexpr double kMostOfTime = 0.01;
constexpr double kMostAtStart = 0.3;

// Of the trial with as many threads; null: there was none.
const ThreadTrial* find_trial(const std::vector<ThreadTrial>& trials, int64_t num_threads) {
  const auto found = std::find_if(trials.begin(), trials.end(), [&](const ThreadTrial& trial) {
    return trial.num_threads == num_threads;
  });
  return found == trials.end() ? nullptr : &*found;
}

// The present number unless another one is clearly faster.
int64_t chosen_threads(const std::vector<ThreadTrial>& trials, int64_t present) {
  const int64_t best = min_fast_threads(trials);
  const ThreadTrial* now = find_trial(trials, present);
  const bool is_clear =
      now == nullptr || now->step_seconds > 1.1 * find_trial(trials, best)->step_seconds;
  return is_clear ? best : present;
}

}  // namespace

void ThreadTrialTimes::add_steps(int64_t count, double seconds) {
  total_ += seconds;
  since_trial_ += seconds;
  window_steps_ += count;
  window_seconds_ += seconds;
  if (window_seconds_ < kWindowSeconds || window_steps_ == 0) return;
  const double mean = window_seconds_ / static_cast<double>(window_steps_);
  fastest_ = fastest_ == 0 ? mean : std::min(fastest_, mean);
  num_slow_ = mean > kSlower * fastest_ ? num_slow_ + 1 : 0;
  window_steps_ = 0;
  window_seconds_ = 0;
}

bool ThreadTrialTimes::is_due() const {
  if (trials_ > kMostAtStart + kMostOfTime * total_) return false;
  return num_slow_ >= kSlowWindows || since_trial_ >= interval_;
}

void ThreadTrialTimes::add_trial(double seconds, bool has_changed) {
  trials_ += seconds;
  since_trial_ = window_seconds_ = fastest_ = 0;
  window_steps_ = 0;
  num_slow_ = 0;
  interval_ = has_changed ? kFirstInterval : std::min(2 * interval_, kLongestInterval);
}

void ThreadWatch::after_steps(Session& session, Output& output, int64_t count, double seconds) {
  if (output.max_threads < 2 || !uses_kernels(session) || finished(session)) return;
  times_.add_steps(count, seconds);
  if (!times_.is_due()) return;
  const TimedStage timed(Stage::kTryThreads);
  const Stopwatch stopwatch;
  const std::vector<ThreadTrial> trials = try_threads(session, output.max_threads);
  const int64_t before = output.num_threads;
  output.num_threads = chosen_threads(trials, before);
  use_threads_within_memory(session, output.num_threads);
  times_.add_trial(stopwatch.seconds(), output.num_threads != before);
  if (output.num_threads == before) return;
  const double now = find_trial(trials, output.num_threads)->step_seconds;
  const ThreadTrial* old = find_trial(trials, before);
  const std::string time =
      old == nullptr ? "" : fmt::format(", with {} {:.3g} ms", before, 1e3 * old->step_seconds);
  log::event("threads",
             fmt::format("the machine has changed: {} in place of {} (a step takes {:.3g} ms{})",
                         counted(output.num_threads, "thread"), before, 1e3 * now, time),
             {{"step", session.state.position.step}, {"threads", output.num_threads}});
  if (output.threads_changed)
    output.threads_changed(session.state.position.step, output.num_threads);
}

}  // namespace trainer::train
