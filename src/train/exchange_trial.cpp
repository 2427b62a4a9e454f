// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/exchange_trial.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "trainer/base/time/stopwatch.h"
#include "trainer/distributed/reduction.h"
#include "trainer/train/out_of_memory.h"

namespace trainer::train {
namespace {

constexpr double kTrialSeconds = 0.02;
constexpr double kMaxTrials = 20;

// Returns the shortest of several runs, because other work on the machine only adds time. All
// processes do the same number of runs.
template <class Run>
double shortest_run(const dist::World& world, const Run& run) {
  const auto measure = [&] {
    const Stopwatch stopwatch;
    run();
    return stopwatch.seconds();
  };
  double shortest = measure();  // the first run warms up
  world.broadcast(std::as_writable_bytes(std::span(&shortest, 1)));
  const auto count = static_cast<int>(std::min(kMaxTrials, kTrialSeconds / shortest)) + 1;
  for (int i = 0; i < count; ++i) shortest = std::min(shortest, measure());
  return shortest;
}

}  // namespace

ExchangeTrial try_exchange(Session& session) {
  dist::World& world = *session.world;
  ExchangeTrial trial;
  trial.compute = shortest_run(world, [&] { rehearse_step(session); });
  const int64_t size = session.model.parameters().num_trained;
  const std::size_t num_subtrees = std::max<std::size_t>(1, session.division.my_subtrees().size());
  const auto stride = static_cast<std::size_t>(session.model.parameters().values.numel());
  const std::shared_ptr<void> memory = world.allocate(num_subtrees * stride * sizeof(float));
  auto* gradients = static_cast<float*>(memory.get());
  // Pages that were never written would be faster.
  std::fill_n(gradients, num_subtrees * stride, 0.0F);
  std::vector<float*> subtrees;
  subtrees.reserve(num_subtrees);
  for (std::size_t i = 0; i < session.division.my_subtrees().size(); ++i) {
    subtrees.push_back(gradients + i * stride);
  }
  dist::Reduction reduction(world, session.division);
  const auto exchange = [&] {
    reduction.add(subtrees, size, gradients);
    reduction.finish();
  };
  trial.exchange = shortest_run(world, exchange);
  world.broadcast(std::as_writable_bytes(std::span(&trial, 1)));
  return trial;
}

}  // namespace trainer::train
