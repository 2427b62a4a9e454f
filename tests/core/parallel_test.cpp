// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/parallel.h"

#include <atomic>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/core/error.h"

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

}  // namespace
}  // namespace trainer
