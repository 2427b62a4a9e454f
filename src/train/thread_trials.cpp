// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/thread_trials.h"

#include <algorithm>

#include "trainer/base/time/stopwatch.h"
#include "trainer/train/out_of_memory.h"

namespace trainer::train {
namespace {

constexpr double kTrialSeconds = 0.01;  // longer trials choose the same (docs/performance.md)
constexpr double kLongStep = 0.05;
constexpr double kNearlyAsFast = 1.1;
constexpr double kSlower = 1.3;

double measure_seconds(FunctionRef<void()> step) {
  const Stopwatch stopwatch;
  step();
  return stopwatch.seconds();
}

// Returns the shortest of several runs, because other work on the machine only adds time.
double shortest_run(FunctionRef<void()> step) {
  const Stopwatch stopwatch;
  step();  // warm-up
  double shortest = measure_seconds(step);
  while (stopwatch.seconds() < kTrialSeconds) shortest = std::min(shortest, measure_seconds(step));
  return shortest;
}

double shortest_step(const std::vector<ThreadTrial>& trials) {
  return std::min_element(trials.begin(), trials.end(),
                          [](const ThreadTrial& a, const ThreadTrial& b) {
                            return a.step_seconds < b.step_seconds;
                          })
      ->step_seconds;
}

}  // namespace

std::vector<ThreadTrial> try_threads(int64_t max_threads,
                                     FunctionRef<void(int64_t num_threads)> set_threads,
                                     FunctionRef<void()> step) {
  set_threads(max_threads);
  // Such a long step has work for every CPU, and trials would delay the run.
  if (const double seconds = measure_seconds(step); seconds > kLongStep)
    return {{max_threads, seconds}};
  std::vector<ThreadTrial> trials;
  for (int64_t num_threads = 1;; num_threads = std::min(2 * num_threads, max_threads)) {
    set_threads(num_threads);
    trials.push_back({num_threads, shortest_run(step)});
    const bool is_slower = trials.back().step_seconds > kSlower * shortest_step(trials);
    if (num_threads == max_threads || is_slower) return trials;
  }
}

std::vector<ThreadTrial> try_threads(Session& session, int64_t max_threads) {
  return try_threads(
      max_threads, [&](int64_t num_threads) { use_threads_within_memory(session, num_threads); },
      [&] { rehearse_step(session); });
}

int64_t min_fast_threads(const std::vector<ThreadTrial>& trials) {
  const double shortest = shortest_step(trials);
  const auto fast = std::find_if(trials.begin(), trials.end(), [&](const ThreadTrial& trial) {
    return trial.step_seconds <= kNearlyAsFast * shortest;
  });
  return fast->num_threads;
}

}  // namespace trainer::train
