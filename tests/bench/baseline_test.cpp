// SPDX-License-Identifier: Apache-2.0
#include "devices/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/rows.h"
#include "support/error_of.h"

namespace trainer::bench {
namespace {

Row row_with_steps(std::vector<double> times) {
  Row row = make_row(1);
  row.step_ms = summarize(std::move(times));
  return row;
}

Results make_results(std::vector<Row> rows) {
  Results results;
  results.rows = std::move(rows);
  return results;
}

Change change_between(std::vector<double> before, std::vector<double> after) {
  return compare(make_results({row_with_steps(std::move(before))}),
                 make_results({row_with_steps(std::move(after))}), {})
      .changes.at(0)
      .change;
}

TEST(BaselineTest, ARowIsSlowerBeyondTheBoundOnly) {
  EXPECT_EQ(change_between({10, 10, 10}, {10.4, 10.4, 10.4}), Change::kSame);
  EXPECT_EQ(change_between({10, 10, 10}, {10.6, 10.6, 10.6}), Change::kSlower);
  EXPECT_EQ(change_between({10, 10, 10}, {9, 9, 9}), Change::kFaster);
}

TEST(BaselineTest, ADifferenceWithinTheSpreadOfTheStepsIsNoise) {
  EXPECT_EQ(change_between({8, 9, 10, 12, 14}, {9, 11, 12, 13, 14}), Change::kWithinNoise);
  EXPECT_EQ(change_between({9, 11, 12, 13, 14}, {8, 9, 10, 12, 14}), Change::kWithinNoise);
  EXPECT_EQ(change_between({8, 9, 10, 12, 14}, {12, 13, 14, 15, 16}), Change::kSlower);
}

TEST(BaselineTest, OneOutlierIsNoSlowdown) {
  EXPECT_EQ(change_between({10, 10, 10, 10}, {10, 10, 10, 500}), Change::kSame);
}

TEST(BaselineTest, TellsRowsThatOnlyOneSideHasAndOtherConditions) {
  Results before = make_results({make_row(2), make_row("mps", "fp32", 1)});
  Results now = make_results({make_row("cuda", "fp32", 1), make_row(3)});
  before.context = {{"system", {{"host", {{"cpu", "A"}}}}}, {"options", {{"threads", 2}}}};
  now.context = {{"system", {{"host", {{"cpu", "B"}}}}}, {"options", {{"threads", 2}}}};

  const Comparison comparison = compare(before, now, {});

  EXPECT_EQ(num_with(comparison, Change::kSlower), 1);
  EXPECT_EQ(comparison_text(comparison, 5),
            R"(Comparison with the baseline (medians)
Row                                Baseline ms   Now ms   Change
----------------------------------------------------------------
cpu_fp32/784-256-256-10/batch_128        2.000    3.000  +50.0 %  SLOWER
cuda_fp32/784-256-256-10/batch_128: not in the baseline
mps_fp32/784-256-256-10/batch_128: only in the baseline
Differing conditions: system/host/cpu: A -> B
1 of 1 rows are slower by more than 5 % and outside the noise.
)");
}

TEST(BaselineTest, AnotherAcceleratorOrDriverIsADifferingCondition) {
  Results before = make_results({make_row(1)});
  Results now = make_results({make_row(1)});
  const auto with_driver = [](const char* driver) {
    const Json gpu = {{"device", "cuda:0"}, {"name", "A100"}, {"driver", driver}};
    return Json{{"system", {{"accelerators", Json::array({gpu})}}}};
  };
  before.context = with_driver("535.1");
  now.context = with_driver("550.2");
  EXPECT_THAT(compare(before, now, {}).other_conditions,
              testing::ElementsAre("system/accelerators: cuda:0 A100, driver 535.1 -> cuda:0 A100, "
                                   "driver 550.2"));
}

TEST(BaselineTest, TheWorstRowIsTheOneThatBecameSlowest) {
  const Comparison comparison =
      compare(make_results({make_row(10), make_row("mps", "fp32", 10)}),
              make_results({make_row(9), make_row("mps", "fp32", 10.2)}), {});
  EXPECT_EQ(worst(comparison)->name, "mps_fp32/784-256-256-10/batch_128");
  EXPECT_NEAR(worst(comparison)->percent, 2, 1e-9);
  EXPECT_EQ(worst({}), nullptr);
}

// A busy machine makes steps many times slower: no word on the program.
TEST(BaselineTest, RowsFromWhichOtherProgramsTookTheCpuAreNotCompared) {
  const Results quiet = make_results({make_row(1), make_row("mps", "fp32", 1)});
  const Results busy = make_results({on_busy_machine(make_row(4)), make_row("mps", "fp32", 1)});
  const Comparison comparison = compare(quiet, busy, {});
  EXPECT_EQ(num_with(comparison, Change::kSlower), 0);
  EXPECT_EQ(num_with(comparison, Change::kNotCompared), 1);
  EXPECT_EQ(worst(comparison)->name, "mps_fp32/784-256-256-10/batch_128");
  EXPECT_EQ(comparison_text(comparison, 5),
            R"(Comparison with the baseline (medians)
Row                                Baseline ms   Now ms   Change
----------------------------------------------------------------
cpu_fp32/784-256-256-10/batch_128        1.000    4.000 +300.0 %  not compared
mps_fp32/784-256-256-10/batch_128        1.000    1.000   +0.0 %  same
No row of those compared is slower by more than 5 % and outside the noise.
1 of 2 rows were not compared: other programs used the CPU; measure again on a quiet machine.
)");
  EXPECT_EQ(num_with(compare(busy, quiet, {}), Change::kNotCompared), 1);
  EXPECT_EQ(num_with(compare(quiet, busy, {.max_lost = 50}), Change::kSlower), 1);

  const Results all_busy = make_results({on_busy_machine(make_row(4))});
  const Comparison nothing = compare(all_busy, all_busy, {});
  EXPECT_EQ(worst(nothing), nullptr);
  EXPECT_TRUE(comparison_text(nothing, 5)
                  .ends_with("not compared\n1 of 1 rows were not compared: other programs used the "
                             "CPU; measure again on "
                             "a quiet machine.\n"));
}

TEST(BaselineTest, AComparisonOfNothingFails) {
  const Error error = test::error_of(
      [] { compare(make_results({make_row("mps", "fp32", 1)}), make_results({make_row(1)}), {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_STREQ(error.what(),
               "the baseline has 1 rows, but none of the 1 rows measured now; create a new "
               "baseline with the same options");
}

TEST(ConsistencyTest, ARowVariesByTheCoefficientOfVariationOfItsMedians) {
  Row steady = make_row(10);
  steady.repetition_medians = {9.9, 10, 10.1};
  Row varying = make_row("mps", "fp32", 10);
  varying.repetition_medians = {8, 10, 12};
  const auto rows = consistency(std::vector<Row>{steady, varying});
  EXPECT_NEAR(rows[0].percent, 1, 1e-9);
  EXPECT_NEAR(rows[1].percent, 20, 1e-9);
  EXPECT_EQ(num_inconsistent(rows, 10), 1);
  EXPECT_EQ(num_inconsistent(rows, 20.1), 0);
  EXPECT_EQ(consistency_text(rows, 10),
            R"(Consistency, medians of 3 repetitions
Row                                 Lowest ms Highest ms   CV %
---------------------------------------------------------------
cpu_fp32/784-256-256-10/batch_128       9.900      10.10    1.0  steady
mps_fp32/784-256-256-10/batch_128       8.000      12.00   20.0  VARIES
1 of 2 rows vary by more than 10 %.
)");
}

}  // namespace
}  // namespace trainer::bench
