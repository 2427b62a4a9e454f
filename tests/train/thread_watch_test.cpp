// SPDX-License-Identifier: Apache-2.0
#include "train/thread_watch.h"

#include <memory>

#include <gtest/gtest.h>

#include "support/sessions.h"
#include "support/tensors.h"

namespace trainer::train {
namespace {

// Seconds of steps of a millisecond until threads are to be tried, at most `most`.
int seconds_until_due(ThreadTrialTimes& times, int most = 1000) {
  int seconds = 0;
  while (!times.is_due() && seconds < most) {
    times.add_steps(1000, 1.0);
    ++seconds;
  }
  return seconds;
}

TEST(ThreadTrialTimesTest, WhereNothingChangesTrialsBecomeRare) {
  ThreadTrialTimes times(10);
  for (const int expected : {10, 20, 40, 80, 160, 320, 320}) {
    EXPECT_EQ(seconds_until_due(times), expected);
    times.add_trial(0.1, TrialResult::kSame);
  }
}

TEST(ThreadTrialTimesTest, AfterAChangeTheyAreFrequentAgain) {
  ThreadTrialTimes times(10);
  for (int i = 0; i < 5; ++i) {
    seconds_until_due(times);
    times.add_trial(0.1, TrialResult::kSame);
  }
  seconds_until_due(times);
  times.add_trial(0.1, TrialResult::kChanged);
  EXPECT_EQ(seconds_until_due(times), 10);
}

TEST(ThreadTrialTimesTest, AfterACloseTrialTheyStayFrequent) {
  ThreadTrialTimes times(2);
  for (const int expected : {2, 4, 8, 10, 10}) {
    EXPECT_EQ(seconds_until_due(times), expected);
    times.add_trial(0.02, TrialResult::kClose);
  }
  for (const int expected : {10, 20, 40}) {
    EXPECT_EQ(seconds_until_due(times), expected);
    times.add_trial(0.02, TrialResult::kSame);
  }
}

TEST(ThreadTrialTimesTest, StepsThatStaySlowerAreAReason) {
  ThreadTrialTimes times(10);
  for (int i = 0; i < 3; ++i) times.add_steps(1000, 1.0);
  times.add_steps(500, 1.0);
  EXPECT_FALSE(times.is_due());  // for a second only
  times.add_steps(1000, 1.0);
  times.add_steps(600, 1.0);
  EXPECT_FALSE(times.is_due());
  times.add_steps(600, 1.0);
  EXPECT_TRUE(times.is_due());
}

TEST(ThreadTrialTimesTest, AStepOfManySecondsIsAWindow) {
  ThreadTrialTimes times(10);
  times.add_steps(1, 3.0);
  EXPECT_FALSE(times.is_due());
  times.add_steps(1, 8.0);
  EXPECT_TRUE(times.is_due());  // ten seconds are over
}

TEST(ThreadTrialTimesTest, TrialsTakeOnePercentOfTheTime) {
  ThreadTrialTimes times(10);
  seconds_until_due(times);
  times.add_trial(1.0, TrialResult::kChanged);
  EXPECT_EQ(seconds_until_due(times), 60);  // 0.3 s at the start, and 1 % of 70 s
}

std::unique_ptr<Session> small_session() {
  config::Config config = test::small_config();
  config.model.norm = config::Norm::kBatch;
  const auto seed = static_cast<uint64_t>(config.seed);
  auto session = make_session(config, data::load_datasets(config.data, seed), c10::kCPU);
  use_threads(*session, 1);
  return session;
}

// Steps on, each of which is said to have taken so long.
void steps(Session& session, ThreadWatch& watch, test::Traces& traces, int count, double seconds) {
  for (int i = 0; i < count; ++i) {
    test::make_step(session);
    watch.after_steps(session, traces.output(), 1, seconds);
  }
}

TEST(ThreadWatchTest, ARunWhoseThreadsAreTriedHasTheSameBits) {
  const auto watched = small_session();
  const auto plain = small_session();
  test::Traces traces(watched->config);
  int num_changes = 0;
  traces.output().max_threads = 3;
  traces.output().num_threads = 7;  // which no trial has, so it changes
  traces.output().threads_changed = [&](int64_t /*step*/, int64_t num_threads) {
    ++num_changes;
    EXPECT_EQ(num_threads, traces.output().num_threads);
  };
  ThreadWatch watch(10);
  steps(*watched, watch, traces, 1, 11.0);  // tries
  EXPECT_LE(traces.output().num_threads, 3);
  EXPECT_EQ(num_changes, 0);
  steps(*watched, watch, traces, 1, 2.0);  // it was right
  EXPECT_EQ(num_changes, 1);
  for (int i = 0; i < 2; ++i) test::make_step(*plain);
  EXPECT_TRUE(
      test::identical(watched->model.parameters().values, plain->model.parameters().values));
  EXPECT_TRUE(test::identical(watched->model.buffer_values(), plain->model.buffer_values()));
}

TEST(ThreadWatchTest, TheNumberBeforeComesBackIfStepsDoNotBecomeFaster) {
  const auto session = small_session();
  test::Traces traces(session->config);
  traces.output().max_threads = 3;
  traces.output().num_threads = 7;
  traces.output().threads_changed = [](int64_t, int64_t) { FAIL() << "it has not changed"; };
  ThreadWatch watch(10);
  steps(*session, watch, traces, 1, 11.0);
  EXPECT_LE(traces.output().num_threads, 3);
  steps(*session, watch, traces, 1, 10.0);
  EXPECT_EQ(traces.output().num_threads, 7);
}

TEST(ThreadWatchTest, WhereTheirNumberIsGivenItStays) {
  const auto session = small_session();
  test::Traces traces(session->config);
  ThreadWatch watch(10);
  for (int i = 0; i < 6; ++i) watch.after_steps(*session, traces.output(), 1, 1000.0);
  EXPECT_EQ(traces.output().num_threads, 1);
}

}  // namespace
}  // namespace trainer::train
