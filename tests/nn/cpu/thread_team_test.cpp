// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/thread_team.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/parallel/cpus.h"

#include "support/asleep.h"

namespace trainer::cpu {
namespace {

/// With one thread, with as many as there are CPUs, and with more.
class ThreadTeamTest : public testing::TestWithParam<int64_t> {};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadTeamTest, testing::Values(1, 2, usable_cpus() + 3),
                         [](const auto& test) { return std::to_string(test.index); });

TEST_P(ThreadTeamTest, EveryThreadRunsTheFunctionOnce) {
  ThreadTeam team(GetParam());
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(GetParam()));
  for (int i = 0; i < 100; ++i) {
    team.run([&](int64_t thread) { ++calls[static_cast<std::size_t>(thread)]; });
  }
  for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 100);
}

TEST_P(ThreadTeamTest, ParallelForRunsEachIterationOnceBeforeLast) {
  constexpr int64_t kCount = 37;
  ThreadTeam team(GetParam());
  std::vector<int> done(kCount);  // no atomics: the team orders what follows
  int sum = 0;
  team.run([&](int64_t thread) {
    for (int round = 1; round <= 200; ++round) {
      team.parallel_for(
          thread, kCount, [&](int64_t i) { ++done[static_cast<std::size_t>(i)]; },
          [&] { sum += std::accumulate(done.begin(), done.end(), 0) == kCount * round ? 1 : 0; });
    }
  });
  EXPECT_EQ(sum, 200);
}

TEST_P(ThreadTeamTest, ParallelForOverNothingCallsLast) {
  ThreadTeam team(GetParam());
  int last = 0;
  team.run([&](int64_t thread) {
    team.parallel_for(
        thread, 0, [](int64_t) { FAIL(); }, [&] { ++last; });
  });
  EXPECT_EQ(last, 1);
}

TEST_P(ThreadTeamTest, ParallelForNowaitIsDoneWhenRunReturns) {
  ThreadTeam team(GetParam());
  std::vector<int> done(37);
  for (int round = 0; round < 100; ++round) {
    team.run([&](int64_t thread) {
      team.parallel_for_nowait(thread, 37, [&](int64_t i) { ++done[static_cast<std::size_t>(i)]; });
    });
  }
  EXPECT_EQ(done, std::vector<int>(37, 100));
}

TEST_P(ThreadTeamTest, SubnormalNumbersCountAsZero) {
  ThreadTeam team(GetParam());
  volatile float tiny = 1e-38F;  // at run time, and not by the compiler
  std::atomic<int> num_zeros = 0;
  team.run([&](int64_t) { num_zeros += tiny * 0.1F == 0 ? 1 : 0; });
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_EQ(num_zeros, GetParam());
#endif
  EXPECT_GT(tiny * 0.1F, 0);
}

TEST_P(ThreadTeamTest, ThreadsThatSleptWakeUp) {
  ThreadTeam team(GetParam());
  std::atomic<int64_t> calls = 0;
  std::vector<test::ThreadId> threads(static_cast<std::size_t>(GetParam()));
  for (int i = 0; i < 3; ++i) {
    team.run([&](int64_t thread) {
      threads[static_cast<std::size_t>(thread)] = test::this_thread();
      ++calls;
    });
    std::for_each(threads.begin() + 1, threads.end(),
                  test::wait_until_thread_sleeps);  // not the caller
  }
  EXPECT_EQ(calls, 3 * GetParam());
}

}  // namespace
}  // namespace trainer::cpu
