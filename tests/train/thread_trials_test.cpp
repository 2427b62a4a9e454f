// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/thread_trials.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/sessions.h"
#include "support/tensors.h"

namespace trainer::train {
namespace {

TEST(ThreadTrialsTest, TheFewestThreadsThatAreNearlyAsFastAreTaken) {
  EXPECT_EQ(min_fast_threads({{1, 2.0}}), 1);
  EXPECT_EQ(min_fast_threads({{1, 1.05}, {2, 1.0}}), 1);
  EXPECT_EQ(min_fast_threads({{1, 2.0}, {2, 1.05}, {4, 1.0}, {8, 3.0}}), 2);
  EXPECT_EQ(min_fast_threads({{1, 4.0}, {2, 2.0}, {4, 1.0}}), 4);
}

TEST(ThreadTrialsTest, TrialsGoUpFromOneThreadAndChangeNoResult) {
  const auto tried = test::make_small_session(test::small_config());
  const auto other = test::make_small_session(test::small_config());
  const std::vector<ThreadTrial> trials = try_threads(*tried, 3);
  ASSERT_FALSE(trials.empty());
  // A step that takes long, as on a machine that is busy, is tried with all threads and no others.
  const bool is_long = trials.size() == 1 && trials.front().step_seconds > 0.05;
  int64_t expected = is_long ? 3 : 1;
  for (const ThreadTrial& trial : trials) {
    EXPECT_EQ(trial.num_threads, expected);
    EXPECT_GT(trial.step_seconds, 0);
    expected = std::min<int64_t>(2 * expected, 3);
  }
  for (int i = 0; i < 10; ++i) {
    test::make_step(*tried);
    test::make_step(*other);
  }
  EXPECT_TRUE(test::identical(tried->model.parameters().values, other->model.parameters().values));
}

}  // namespace
}  // namespace trainer::train
