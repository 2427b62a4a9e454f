// SPDX-License-Identifier: Apache-2.0

#include "trainer/base/parallel/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
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

constexpr int kNever = -1;

/// The squares of 0, 1, 2, ... and where one of the stages fails or ends.
struct Squares {
  int64_t num_threads = 1;
  int count = 100;
  int fails_to_take = kNever;
  std::vector<int> fail_to_work = {};
  int fails_to_give = kNever;
  int ends_with = kNever;
  std::vector<int> given = {};

  void run() {
    std::vector<int> items(pipeline_slots(num_threads), kNever);
    int num_taken = 0;
    const std::thread::id caller = std::this_thread::get_id();
    const auto fail = [](const char* stage, int item) {
      throw Error(ErrorKind::kData, stage + std::to_string(item));
    };
    const auto take = [&](size_t slot) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      if (num_taken == fails_to_take) fail("take ", num_taken);
      if (num_taken == count) return false;
      EXPECT_EQ(items[slot], kNever) << "the slot is free";
      items[slot] = num_taken++;
      return true;
    };
    const auto work = [&](size_t slot, size_t thread) {
      EXPECT_LT(thread, static_cast<size_t>(num_threads));
      for (const int item : fail_to_work) {
        if (items[slot] == item) fail("work ", item);
      }
      items[slot] *= items[slot];
    };
    const auto give = [&](size_t slot) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      const int item = static_cast<int>(given.size());
      if (item == fails_to_give) fail("give ", item);
      given.push_back(items[slot]);
      items[slot] = kNever;
      return item != ends_with;
    };
    run_pipeline(num_threads, {.take = take, .work = work, .give = give});
  }

  std::string problem() {
    return test::message_of(ErrorKind::kData, [&] { run(); });
  }
};

std::vector<int> first_squares(int count) {
  std::vector<int> squares;
  for (int i = 0; i < count; ++i) squares.push_back(i * i);
  return squares;
}

class OrderedPipelineTest : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Threads, OrderedPipelineTest, testing::Values(1, 2, 3, 8));

TEST_P(OrderedPipelineTest, EachItemIsGivenOnceAndInOrder) {
  for (const int count : {0, 1, 2, 7, 1000}) {
    Squares squares{.num_threads = GetParam(), .count = count};
    squares.run();
    EXPECT_EQ(squares.given, first_squares(count));
  }
}

TEST_P(OrderedPipelineTest, TheErrorOfTheFirstItemIsThrownAfterTheItemsBeforeIt) {
  for (const int item : {0, 1, 5, 99}) {
    Squares work{.num_threads = GetParam(), .fail_to_work = {99, item, 50}};
    EXPECT_EQ(work.problem(), "work " + std::to_string(std::min(item, 50)));
    EXPECT_EQ(work.given, first_squares(std::min(item, 50)));
    Squares take{.num_threads = GetParam(), .fails_to_take = item};
    EXPECT_EQ(take.problem(), "take " + std::to_string(item));
    EXPECT_EQ(take.given, first_squares(item));
    Squares give{.num_threads = GetParam(), .fails_to_give = item};
    EXPECT_EQ(give.problem(), "give " + std::to_string(item));
    EXPECT_EQ(give.given, first_squares(item));
  }
  Squares both{.num_threads = GetParam(), .fails_to_take = 8, .fail_to_work = {7}};
  EXPECT_EQ(both.problem(), "work 7");
}

TEST_P(OrderedPipelineTest, NothingIsGivenAfterTheEnd) {
  Squares squares{.num_threads = GetParam(), .fail_to_work = {11}, .ends_with = 10};
  squares.run();
  EXPECT_EQ(squares.given, first_squares(11));
}

TEST_P(OrderedPipelineTest, AllThreadsWorkAtTheSameTime) {
  const auto num_threads = static_cast<size_t>(GetParam());
  size_t num_items = 0;
  std::atomic<size_t> num_working = 0;
  const auto take = [&](size_t) { return num_items++ < num_threads; };
  const auto work = [&](size_t, size_t) {
    ++num_working;
    while (num_working < num_threads) std::this_thread::yield();
  };
  const auto give = [](size_t) { return true; };
  run_pipeline(GetParam(), {.take = take, .work = work, .give = give});
  EXPECT_EQ(num_working, num_threads);
}

}  // namespace

}  // namespace trainer
