// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/batch_search.h"

#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/counting_allocator.h"
#include "support/error_of.h"
#include "support/sessions.h"

namespace trainer::train {
namespace {

config::Config make_config(config::StepKind kind) {
  config::Config config = test::small_config();
  config.training.step = kind;
  config.training.optimizer.name = config::OptimizerName::kSgd;
  config.training.optimizer.momentum = 0;
  return config;
}

std::vector<int64_t> batch_sizes(const BatchSearch& search) {
  std::vector<int64_t> sizes;
  for (const BatchTrial& trial : search.trials) sizes.push_back(trial.batch_size);
  return sizes;
}

TEST(BatchSearchTest, WhereAllFitsPowersOfTwoAndTheMostAreTried) {
  for (const auto kind : test::step_kinds()) {
    const auto session = test::make_small_session(make_config(kind));
    std::vector<int64_t> reported;
    const BatchSearch search = search_batch_sizes(
        *session, 100, 1, [&](const BatchTrial& trial) { reported.push_back(trial.batch_size); });
    EXPECT_EQ(batch_sizes(search), (std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64, 100}));
    EXPECT_EQ(reported, batch_sizes(search));
    EXPECT_EQ(search.too_large, 0);
    for (const BatchTrial& trial : search.trials) {
      EXPECT_EQ(trial.num_threads, 1);
      EXPECT_GT(trial.step_seconds, 0);
      EXPECT_GT(trial.memory_bytes, 0);
    }
  }
}

// A row has 5 features and hidden values of 32 bytes: 62 rows fit into 2,000 bytes, 500 bytes of
// order leave 62 too.
TEST(BatchSearchTest, TheLargestThatFitsIsFoundToATenth) {
  const auto session = test::make_small_session(make_config(config::StepKind::kAutograd));
  const test::CountingAllocator allocator(/*largest=*/2000);
  const BatchSearch search =
      search_batch_sizes(*session, 1000, 1, [](const BatchTrial& /*trial*/) {});
  EXPECT_EQ(batch_sizes(search), (std::vector<int64_t>{1, 2, 4, 8, 16, 32, 48, 56, 60}));
  EXPECT_EQ(search.too_large, 64);
}

TEST(BatchSearchTest, AModelThatFitsNotAtAllIsAnError) {
  const auto session = test::make_small_session(make_config(config::StepKind::kAutograd));
  const test::CountingAllocator allocator(/*largest=*/4);
  const Error error = test::error_of(
      [&] { search_batch_sizes(*session, 8, 1, [](const BatchTrial& /*trial*/) {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_STREQ(error.what(), "not even a batch of one row fits into memory; use a smaller model");
}

TEST(BatchSearchTest, TheSmallestOfThoseThatAreNearlyTheFastestIsTaken) {
  BatchSearch search;
  search.trials = {{.batch_size = 8, .step_seconds = 1},
                   {.batch_size = 16, .step_seconds = 1.04},
                   {.batch_size = 32, .step_seconds = 2},
                   {.batch_size = 64, .step_seconds = 5}};
  EXPECT_EQ(smallest_fast_batch(search).batch_size, 16);  // 15.4 a second where 16 is the best
}

}  // namespace
}  // namespace trainer::train
