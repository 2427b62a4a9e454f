// SPDX-License-Identifier: Apache-2.0
#include "devices/table.h"

#include <gtest/gtest.h>

#include "bench/rows.h"
#include "support/files.h"

namespace trainer::bench {
namespace {

TEST(TableTest, MillisecondsHaveFourDigitsThatCount) {
  EXPECT_EQ(milliseconds_text(0.02134), "0.0213");
  EXPECT_EQ(milliseconds_text(1.2345), "1.234");
  EXPECT_EQ(milliseconds_text(13.212), "13.21");
  EXPECT_EQ(milliseconds_text(1234.4), "1234");
  EXPECT_EQ(milliseconds_text(10), "10.00");
}

TEST(TableTest, ShowsRowsSpeedAbsencesFailuresAndAdvice) {
  Results results;
  results.rows = {make_row("cpu", "fp32", 25.64), make_row("mps", "fp32", 15.17)};
  results.absent = {{"cuda", "LibTorch finds none on this machine"}};
  results.failures = {{"mps_fp16/784-256-256-10/batch_128", "out of memory"}};
  EXPECT_EQ(comparison_table(results),
            R"(784-256-256-10, batch 128
Config   First ms Warm-up  Avg ms Median    Min    Max  CV %  Samples/s Peak MiB Growth Loss diff
-------------------------------------------------------------------------------------------------
cpu_fp32    76.92   102.6   25.64  25.64  25.38  25.90   1.0      4,992      200      2     1e-07
mps_fp32    45.51   60.68   15.17  15.17  15.02  15.32   1.0      8,438      200      2     1e-07
mps_fp32 is 1.69x faster than cpu_fp32

Failed: mps_fp16/784-256-256-10/batch_128: out of memory

Absent: cuda: LibTorch finds none on this machine

Recommendation: device: mps, precision: fp32, training.step: auto
  because it is 1.69x faster than the next one, cpu_fp32.
)");
}

TEST(TableTest, MarksAWrongLossAndTimeThatWasOver) {
  Results results;
  results.rows = {with_loss_difference(make_row(2), 0.3)};
  results.rows[0].asked_steps = 50;
  const std::string table = comparison_table(results);
  EXPECT_NE(table.find("    3e-01!\n"), std::string::npos) << table;
  EXPECT_NE(table.find("cpu_fp32: 3 of 50 steps: the --max-seconds limit was reached\n"),
            std::string::npos);
  EXPECT_NE(table.find("cpu_fp32: wrong loss: its relative difference must be at most 1e-03\n"),
            std::string::npos);
}

TEST(TableTest, MarksMemoryThatGrows) {
  Results results;
  results.rows = {with_growth(make_row(2), 300 << 20)};
  const std::string table = comparison_table(results);
  EXPECT_NE(table.find("   300!     1e-07\n"), std::string::npos) << table;
  EXPECT_NE(table.find("cpu_fp32: memory grew by 300.0 MiB in 1000 steps; at most 100 MB are "
                       "allowed\n"),
            std::string::npos);
}

TEST(TableTest, AForwardPassHasItsOwnTitle) {
  Results results;
  results.rows = {make_row(2)};
  results.rows[0].setting.pass = Pass::kInference;
  EXPECT_TRUE(
      comparison_table(results).starts_with("784-256-256-10, batch 128, forward pass\nConfig "));
}

TEST(TableTest, IsAtMostHundredTenColumnsWide) {
  Results results;
  Row row = make_row("cuda:1", "bf16", 1234567);
  row.setting.train_step = "autograd";
  results.rows = {row};
  for (const std::string& line : test::lines_of(comparison_table(results))) {
    EXPECT_LE(line.size(), 110U) << line;
  }
}

TEST(TableTest, GivesNoAdviceWhereNothingWasMeasured) {
  Results results;
  results.absent = {{"mps", "none"}};
  EXPECT_EQ(comparison_table(results), "Absent: mps: none\n\n");
}

}  // namespace
}  // namespace trainer::bench
