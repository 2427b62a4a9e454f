// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/thread_trials.h"

#include <algorithm>

#include "trainer/core/stopwatch.h"
#include "trainer/train/out_of_memory.h"

namespace trainer::train {
namespace {

constexpr double kSecondsATrial = 0.04;
constexpr double kLongStep = 0.05;
constexpr double kNearlyAsFast = 1.1;
constexpr double kSlower = 1.3;

double seconds_of(FunctionRef<void()> step) {
  const Stopwatch stopwatch;
  step();
  return stopwatch.seconds();
}

// The shortest of several: other work on the machine only ever adds.
double shortest_seconds(FunctionRef<void()> step) {
  const Stopwatch stopwatch;
  step();  // warms up
  double shortest = seconds_of(step);
  while (stopwatch.seconds() < kSecondsATrial) shortest = std::min(shortest, seconds_of(step));
  return shortest;
}

double shortest_of(const std::vector<ThreadTrial>& trials) {
  return std::min_element(trials.begin(), trials.end(),
                          [](const ThreadTrial& a, const ThreadTrial& b) {
                            return a.step_seconds < b.step_seconds;
                          })
      ->step_seconds;
}

}  // namespace

std::vector<ThreadTrial> try_threads(int64_t most, FunctionRef<void(int64_t num_threads)> use,
                                     FunctionRef<void()> step) {
  use(most);
  // A step as long as that has work for every CPU, and trials would delay the run.
  if (const double seconds = seconds_of(step); seconds > kLongStep) return {{most, seconds}};
  std::vector<ThreadTrial> trials;
  for (int64_t num_threads = 1;; num_threads = std::min(2 * num_threads, most)) {
    use(num_threads);
    trials.push_back({num_threads, shortest_seconds(step)});
    const bool is_slower = trials.back().step_seconds > kSlower * shortest_of(trials);
    if (num_threads == most || is_slower) return trials;
  }
}

std::vector<ThreadTrial> try_threads(Session& session, int64_t most) {
  return try_threads(
      most, [&](int64_t num_threads) { use_threads_within_memory(session, num_threads); },
      [&] { rehearse_step(session); });
}

int64_t fewest_fast_threads(const std::vector<ThreadTrial>& trials) {
  const double shortest = shortest_of(trials);
  const auto fast = std::find_if(trials.begin(), trials.end(), [&](const ThreadTrial& trial) {
    return trial.step_seconds <= kNearlyAsFast * shortest;
  });
  return fast->num_threads;
}

}  // namespace trainer::train
