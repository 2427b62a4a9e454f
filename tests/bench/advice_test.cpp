// SPDX-License-Identifier: Apache-2.0
#include "devices/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/rows.h"

namespace trainer::bench {
namespace {

using testing::ElementsAre;

TEST(AdviceTest, TheFastestRowIsComparedWithEachOtherOne) {
  const std::vector<Row> rows = {make_row("cpu", "fp32", 25.64), make_row("mps", "fp32", 15.17),
                                 make_row("mps", "fp16", 30.34)};
  EXPECT_THAT(speed_lines(rows), ElementsAre("mps_fp32 is 1.69x faster than cpu_fp32",
                                             "mps_fp32 is 2.00x faster than mps_fp16"));
  EXPECT_TRUE(speed_lines({rows.data(), 1}).empty());
}

// Noise of 20 % in the ratio of two rows.
Row with_noise(Row row) {
  const double ms = row.step_ms.median;
  return with_rounds(std::move(row), {0.9 * ms, ms, 1.1 * ms, ms, 0.9 * ms, 1.1 * ms, 0.92 * ms,
                                      1.08 * ms, ms, 1.06 * ms});
}

TEST(AdviceTest, ADifferenceIsNamedOnlyIfItIsLargerThanTheNoise) {
  const std::vector<Row> rows = {with_noise(make_row("cpu", "fp32", 10)),
                                 make_row("mps", "fp32", 10.6), make_row("mps", "fp16", 10.1),
                                 make_row("mps", "bf16", 20)};
  EXPECT_THAT(speed_lines(rows), ElementsAre("cpu_fp32 and mps_fp16 do not differ beyond the noise",
                                             "cpu_fp32 and mps_fp32 do not differ beyond the noise",
                                             "cpu_fp32 is 2.00x faster than mps_bf16"));
  EXPECT_EQ(recommendation(rows),
            "Recommendation: none\n"
            "  because cpu_fp32 does not differ beyond the noise from mps_fp32 and mps_fp16.");
}

TEST(AdviceTest, ABusyMachineIsNamedAndNothingElse) {
  const std::vector<Row> rows = {on_busy_machine(make_row("cpu", "fp32", 80)),
                                 make_row("cpu", "bf16", 10)};
  EXPECT_THAT(speed_lines(rows),
              ElementsAre("Not compared: other programs used the CPU (steps waited for it 48 % of "
                          "the time)"));
  EXPECT_EQ(recommendation(rows),
            "Recommendation: none\n"
            "  because other programs used the CPU (steps waited for it 48 % of the time).");
}

TEST(AdviceTest, OnlyWorkloadsOfABusyTimeHaveNoRecommendation) {
  const std::vector<Row> rows = {with_model(on_busy_machine(make_row("cpu", "fp32", 1)), "a", 8),
                                 with_model(make_row("cpu", "fp32", 10), "b", 8),
                                 with_model(make_row("mps", "fp32", 2), "a", 8),
                                 with_model(make_row("mps", "fp32", 5), "b", 8)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation (it depends on the model and the batch):\n"
            "  a, batch 8: none\n"
            "    because other programs used the CPU (steps waited for it 48 % of the time).\n"
            "  b, batch 8: device: mps, precision: fp32, training.step: auto\n"
            "    because it is 2.00x faster than the next one, cpu_fp32.");
  const std::vector<Row> all = {rows[0], rows[2],
                                with_model(on_busy_machine(make_row(1), 0.2), "b", 8), rows[3]};
  EXPECT_EQ(recommendation(all),
            "Recommendation: none\n"
            "  a, batch 8: other programs used the CPU (steps waited for it 48 % of the time)\n"
            "  b, batch 8: other programs used the CPU (steps waited for it 20 % of the time)");
}

TEST(AdviceTest, RowsWhoseTimesChangeTooMuchAreNotRecommended) {
  const std::vector<Row> rows = {with_rounds(make_row(1), {1, 1, 1, 2, 2, 2, 1, 1, 2, 2}),
                                 make_row("mps", "fp32", 20)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation: none\n"
            "  because the times of cpu_fp32 changed by 67 % from round to round.");
}

TEST(AdviceTest, RowsAreGroupedByModelAndBatch) {
  const std::vector<Row> rows = {with_model(make_row(1), "a", 8), with_model(make_row(2), "a", 16),
                                 with_model(make_row("mps", "fp32", 3), "a", 8)};
  const auto groups = by_workload(rows);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].size(), 2U);
  EXPECT_EQ(groups[0][1].setting.device, "mps");
}

TEST(AdviceTest, RecommendsTheFastestAndSaysWhy) {
  const std::vector<Row> rows = {make_row("cpu", "fp32", 20), make_row("mps", "fp32", 10)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation: device: mps, precision: fp32, training.step: auto\n"
            "  because it is 2.00x faster than the next one, cpu_fp32.");
}

TEST(AdviceTest, RecommendsThePlainerOneOfTwoThatAreEquallyFast) {
  const std::vector<Row> rows = {make_row("mps", "fp32", 10.4), make_row("mps", "bf16", 10)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation: device: mps, precision: fp32, training.step: auto\n"
            "  because it is simpler than mps_bf16 and within 5 % of its speed.");
}

TEST(AdviceTest, NeverRecommendsAWrongLoss) {
  const std::vector<Row> rows = {make_row("cpu", "fp32", 20),
                                 with_loss_difference(make_row("mps", "fp16", 5), 0.5)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation: device: cpu, precision: fp32, training.step: auto\n"
            "  because it is the only one with a correct loss.");
  EXPECT_EQ(recommendation({rows.data() + 1, 1}),
            "Recommendation: none\n  because no row has a correct loss and bounded memory.");
  const std::vector<Row> leaking = {with_growth(make_row("cpu", "fp32", 5), 100'000'001), rows[0]};
  EXPECT_EQ(recommendation(leaking),
            "Recommendation: device: cpu, precision: fp32, training.step: auto\n"
            "  because it is the only one with a correct loss.");
}

TEST(AdviceTest, OneChoiceForAllWorkloadsIsSaidOnce) {
  const std::vector<Row> rows = {with_model(make_row("cpu", "fp32", 1), "a", 8),
                                 with_model(make_row("cpu", "fp32", 10), "b", 8),
                                 with_model(make_row("mps", "fp32", 2), "a", 8),
                                 with_model(make_row("mps", "fp32", 15), "b", 8)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation: device: cpu, precision: fp32, training.step: auto\n"
            "  because it is the best choice for all 2 workloads, 1.50x to 2.00x faster than the "
            "next one.");
}

TEST(AdviceTest, SeveralChoicesAreSaidForEachWorkload) {
  const std::vector<Row> rows = {with_model(make_row("cpu", "fp32", 1), "a", 8),
                                 with_model(make_row("cpu", "fp32", 10), "b", 8),
                                 with_model(make_row("mps", "fp32", 2), "a", 8),
                                 with_model(make_row("mps", "fp32", 5), "b", 8)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation (it depends on the model and the batch):\n"
            "  a, batch 8: device: cpu, precision: fp32, training.step: auto\n"
            "    because it is 2.00x faster than the next one, mps_fp32.\n"
            "  b, batch 8: device: mps, precision: fp32, training.step: auto\n"
            "    because it is 2.00x faster than the next one, cpu_fp32.");
}

}  // namespace
}  // namespace trainer::bench
