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

double rehearse(Session& session) {
  const Stopwatch stopwatch;
  rehearse_step(session);
  return stopwatch.seconds();
}

// The shortest of several: other work on the machine only ever adds.
double step_seconds(Session& session, int64_t num_threads) {
  use_threads_within_memory(session, num_threads);
  const Stopwatch stopwatch;
  rehearse(session);  // the first one warms up
  double shortest = rehearse(session);
  while (stopwatch.seconds() < kSecondsATrial) {
    shortest = std::min(shortest, rehearse(session));
  }
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

std::vector<ThreadTrial> try_threads(Session& session, int64_t most) {
  use_threads_within_memory(session, most);
  // A step as long as that has work for every CPU, and trials would delay the run.
  if (const double seconds = rehearse(session); seconds > kLongStep) {
    return {{most, seconds}};
  }
  std::vector<ThreadTrial> trials;
  for (int64_t num_threads = 1;; num_threads = std::min(2 * num_threads, most)) {
    trials.push_back({num_threads, step_seconds(session, num_threads)});
    const bool is_slower = trials.back().step_seconds > kSlower * shortest_of(trials);
    if (num_threads == most || is_slower) return trials;
  }
}

int64_t fewest_fast_threads(const std::vector<ThreadTrial>& trials) {
  const double shortest = shortest_of(trials);
  const auto fast = std::find_if(trials.begin(), trials.end(), [&](const ThreadTrial& trial) {
    return trial.step_seconds <= kNearlyAsFast * shortest;
  });
  return fast->num_threads;
}

}  // namespace trainer::train
