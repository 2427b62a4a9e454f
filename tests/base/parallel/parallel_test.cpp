// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/parallel/parallel.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/time/long_work.h"

#include "support/error_of.h"

namespace trainer {
namespace {

TEST(ParallelTest, EachCallIsMadeOnce) {
  for (const size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<std::atomic<int>> calls(count);
    parallel_for(count, [&](size_t i) { ++calls[i]; });
    for (const auto& number : calls) EXPECT_EQ(number, 1);
  }
}

TEST(ParallelTest, RangesMakeUpTheWhole) {
  for (const size_t size : {0U, 1U, 64U, 1000U}) {
    std::vector<std::atomic<int>> calls(size);
    parallel_for_ranges(size, 64, [&](size_t begin, size_t end) {
      EXPECT_EQ(begin % 64, 0U);
      EXPECT_LE(end - begin, 64U);
      for (size_t i = begin; i < end; ++i) ++calls[i];
    });
    for (const auto& number : calls) EXPECT_EQ(number, 1);
  }
}

TEST(ParallelTest, TheErrorOfTheLowestCallIsThrown) {
  for (int round = 0; round < 100; ++round) {
    const auto fail = [](size_t i) {
      if (i % 7 == 3) throw Error(ErrorKind::kData, "call " + std::to_string(i));
    };
    EXPECT_EQ(test::message_of(ErrorKind::kData, [&] { parallel_for(50, fail); }), "call 3");
  }
}

TEST(ParallelTest, TheListenerIsToldOnThisThreadWhatPartIsDone) {
  std::vector<double> parts;
  listen_to_long_work([&, thread = std::this_thread::get_id()](std::string_view name, double part) {
    EXPECT_EQ(name, "counting");
    EXPECT_EQ(std::this_thread::get_id(), thread);
    parts.push_back(part);
  });
  parallel_for(
      1, [](size_t) {}, "counting");  // which needs no other thread
  const std::vector<double> of_one = parts;
  parallel_for(
      100, [](size_t) {}, "counting");
  parallel_for(100, [](size_t) {});
  listen_to_long_work({});
  EXPECT_EQ(of_one, (std::vector<double>{0.5, 1}));
  EXPECT_TRUE(std::is_sorted(parts.begin() + 2, parts.end()));
  EXPECT_EQ(parts.back(), 1);
  EXPECT_EQ(std::count(parts.begin() + 2, parts.end(), 1), 1);
}

}  // namespace
}  // namespace trainer
