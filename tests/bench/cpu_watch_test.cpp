// SPDX-License-Identifier: Apache-2.0
#include "devices/cpu_watch.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trainer::bench {
namespace {

TEST(CpuWatchTest, KnowsNothingBeforeItHasStarted) { EXPECT_FALSE(CpuWatch().lost_seconds()); }

#ifndef __APPLE__  // sees other programs only
// More threads than CPUs: one of them waits for another one, as if that were another program's.
TEST(CpuWatchTest, SeesThatThreadsWaitForACpu) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
    threads.emplace_back([&] {
      while (!is_over) continue;
    });
  }
  CpuWatch watch;
  watch.start();
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (watch.lost_seconds().value_or(1) == 0 && std::chrono::steady_clock::now() < patience) {
  }
  const auto lost = watch.lost_seconds();
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  if (!lost) GTEST_SKIP() << "a system that counts how long threads wait";
  EXPECT_GT(*lost, 0);
}
#endif

}  // namespace
}  // namespace trainer::bench
