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
            "Recommendation: device: mps, precision: fp32, training.step: fused\n"
            "  because it is 2.00x faster than the next one, cpu_fp32.");
}

TEST(AdviceTest, RecommendsThePlainerOneOfTwoThatAreEquallyFast) {
  const std::vector<Row> rows = {make_row("mps", "fp32", 10.4), make_row("mps", "bf16", 10)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation: device: mps, precision: fp32, training.step: fused\n"
            "  because it is simpler than mps_bf16 and within 5 % of its speed.");
}

TEST(AdviceTest, NeverRecommendsAWrongLoss) {
  const std::vector<Row> rows = {make_row("cpu", "fp32", 20),
                                 with_loss_difference(make_row("mps", "fp16", 5), 0.5)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation: device: cpu, precision: fp32, training.step: fused\n"
            "  because it is the only one with a correct loss.");
  EXPECT_EQ(recommendation({rows.data() + 1, 1}),
            "Recommendation: none, because no row has a correct loss.");
}

TEST(AdviceTest, OneChoiceForAllWorkloadsIsSaidOnce) {
  const std::vector<Row> rows = {with_model(make_row("cpu", "fp32", 1), "a", 8),
                                 with_model(make_row("cpu", "fp32", 10), "b", 8),
                                 with_model(make_row("mps", "fp32", 2), "a", 8),
                                 with_model(make_row("mps", "fp32", 15), "b", 8)};
  EXPECT_EQ(recommendation(rows),
            "Recommendation: device: cpu, precision: fp32, training.step: fused\n"
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
            "  a, batch 8: device: cpu, precision: fp32, training.step: fused\n"
            "    because it is 2.00x faster than the next one, mps_fp32.\n"
            "  b, batch 8: device: mps, precision: fp32, training.step: fused\n"
            "    because it is 2.00x faster than the next one, cpu_fp32.");
}

}  // namespace
}  // namespace trainer::bench
