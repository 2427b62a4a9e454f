// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/difference.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "support/run_folders.h"

namespace trainer::tracking {
namespace {

// Differences 1, 2, 3: mean 2, variance 1; of three folds 1/3 + 1/2; t of two degrees 4.303.
TEST(DifferenceTest, OfFoldsIsWiderThanOfIndependentRuns) {
  const std::array differences = {1.0, 2.0, 3.0};
  const Difference d = paired_difference(differences, 3);
  EXPECT_DOUBLE_EQ(d.value, 2);
  EXPECT_NEAR(d.high - d.value, 4.303 * std::sqrt(1.0 / 3 + 0.5), 1e-12);
  EXPECT_NEAR(d.value - d.low, d.high - d.value, 1e-12);
  EXPECT_TRUE(d.is_noise());
}

// scipy.stats.ttest_ind([1, 2, 4], [5, 6, 9, 8], equal_var=False): df 4.79.. -> 4.
TEST(DifferenceTest, OfMeansIsWelchs) {
  const std::array first = {1.0, 2.0, 4.0};
  const std::array second = {5.0, 6.0, 9.0, 8.0};
  const Difference d = difference_of_means(first, second);
  EXPECT_NEAR(d.value, 7 - 7.0 / 3, 1e-12);
  const double error = std::sqrt((7.0 / 3) / 3 + (10.0 / 3) / 4);
  EXPECT_NEAR(d.high - d.value, 2.776 * error, 1e-12);
  EXPECT_FALSE(d.is_noise());
}

TEST(DifferenceTest, EqualRunsDifferByNothing) {
  const std::array values = {1.0, 1.0};
  const Difference d = difference_of_means(values, values);
  EXPECT_EQ(d.value, 0);
  EXPECT_TRUE(d.is_noise());
}

// Their degrees of freedom are infinite: a file that somebody has changed may have them.
TEST(DifferenceTest, TheLargestNumbersAreAsOfManyRuns) {
  const std::array values = {0.0, 1.8e77};
  const Difference d = difference_of_means(values, values);
  EXPECT_EQ(d.value, 0);
  EXPECT_NEAR(d.high / 1.8e77, 1.959964 * std::sqrt(0.5), 1e-12);
}

RunEntry make_run(const std::string& seed, const std::string& rate, double accuracy) {
  RunEntry entry;
  entry.settings = {{"training.learning_rate", rate}};
  if (!seed.empty()) entry.settings["seed"] = seed;
  entry.metrics = {{"val.accuracy", accuracy}};
  return entry;
}

TEST(DifferenceTest, RunsThatDifferInTheSeedOnlyAreOneGroup) {
  const std::vector<RunEntry> runs = {make_run("", "0.1", 0.5), make_run("1", "0.1", 0.51),
                                      make_run("", "0.2", 0.7), make_run("1", "0.2", 0.71),
                                      make_run("2", "0.2", 0.72)};
  const Differences found = find_differences(runs).value();
  EXPECT_EQ(found.over, "2 and 3 runs with other seeds");
  ASSERT_EQ(found.metrics.size(), 1U);
  EXPECT_NEAR(found.metrics[0].value, 0.205, 1e-12);
  EXPECT_FALSE(found.metrics[0].is_noise());
  EXPECT_FALSE(find_differences(std::span(runs).first(3)).has_value());
}

TEST(DifferenceTest, FoldsOfTwoCrossValidationsArePairs) {
  const test::TemporaryFolder runs;
  const auto write = [&](const std::string& name, const std::string& runs_json) {
    test::write_run(runs, name + "/20260102_030405_fold_1", {.config = "data: {folds: 2}\n"});
    runs.write(name + "/cv.json",
               R"({"folds":2,"runs":)" + runs_json + R"(,"mean":{"accuracy":0.5}})");
    return read_entry(runs.path() / name).value();
  };
  std::vector<RunEntry> entries = {
      write("a_cv", R"([{"fold":1,"accuracy":0.5},{"fold":2,"accuracy":0.7}])"),
      write("b_cv", R"([{"fold":2,"accuracy":0.8},{"fold":1,"accuracy":0.6}])")};
  const Differences found = find_differences(entries).value();
  EXPECT_EQ(found.over, "2 folds");
  EXPECT_EQ(found.metrics[0].metric, "test.accuracy");
  EXPECT_NEAR(found.metrics[0].value, 0.1, 1e-12);
  EXPECT_FALSE(found.metrics[0].is_noise());  // by as much on each fold
  entries[1].settings["seed"] = "7";          // other rows in the folds
  EXPECT_FALSE(find_differences(entries).has_value());
}

}  // namespace
}  // namespace trainer::tracking
