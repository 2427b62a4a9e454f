// SPDX-License-Identifier: Apache-2.0
#include "devices/results.h"

#include <cmath>

#include <gtest/gtest.h>

#include "bench/rows.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::bench {
namespace {

TEST(ResultsTest, NamesSayTheStepOnlyWhereItIsNotTheUsualOne) {
  Setting setting = {"cuda:1", "fp16", "fused", "10-128-2", 32};
  EXPECT_EQ(config_name(setting), "cuda:1_fp16");
  EXPECT_EQ(row_name(setting), "cuda:1_fp16/10-128-2/batch_32");
  EXPECT_EQ(workload_name(setting), "10-128-2, batch 32");
  setting.pass = Pass::kInference;
  EXPECT_EQ(row_name(setting), "cuda:1_fp16/10-128-2/batch_32/inference");
  setting.train_step = "autograd";
  EXPECT_EQ(config_name(setting), "cuda:1_fp16_autograd");
}

TEST(ResultsTest, ThroughputComesFromTheAverage) {
  Row row = make_row(1);
  row.step_ms = summarize({1, 1, 4});
  EXPECT_DOUBLE_EQ(samples_per_second(row), 64'000);
}

TEST(ResultsTest, ALossIsRightUpToItsBoundAndNeverWhenItIsNaN) {
  EXPECT_TRUE(has_right_loss(with_loss_difference(make_row(1), 1e-3)));
  EXPECT_FALSE(has_right_loss(with_loss_difference(make_row(1), 1.1e-3)));
  EXPECT_FALSE(has_right_loss(with_loss_difference(make_row(1), std::nan(""))));
}

TEST(ResultsTest, MemoryMayGrowByHundredMegabytes) {
  EXPECT_TRUE(has_bounded_memory(with_growth(make_row(1), 100'000'000)));
  EXPECT_FALSE(has_bounded_memory(with_growth(make_row(1), 100'000'001)));
}

TEST(ResultsTest, AreSoundIfNoRowHasFailedAndAllAreSound) {
  Results results;
  results.rows = {make_row(1)};
  EXPECT_TRUE(is_sound(results));
  results.failures = {{"mps_fp16/a/batch_1", "out of memory"}};
  EXPECT_FALSE(is_sound(results));
  results.failures.clear();
  results.rows.push_back(with_growth(make_row(1), 200'000'000));
  EXPECT_FALSE(is_sound(results));
  results.rows.back() = with_loss_difference(make_row(1), 0.5);
  EXPECT_FALSE(is_sound(results));
}

TEST(ResultsTest, AcceleratorsAreNamedWithWhatIsKnownOfThem) {
  EXPECT_EQ(accelerators_text({{"system", {{"host", "a"}}}}), "none");
  EXPECT_EQ(accelerators_text({{"system", {{"accelerators", Json::array()}}}}), "none");
  const Json first = {{"device", "cuda:0"},
                      {"name", "NVIDIA A100"},
                      {"memory_bytes", uint64_t{40} << 30},
                      {"driver", "550.54.15 (CUDA 12.4)"}};
  const Json second = {{"device", "mps"}};
  EXPECT_EQ(accelerators_text({{"system", {{"accelerators", {first, second}}}}}),
            "cuda:0 NVIDIA A100, 40.0 GiB, driver 550.54.15 (CUDA 12.4); mps");
}

TEST(ResultsTest, AFileGivesBackWhatWasWritten) {
  Results results;
  results.context = {{"time", "now"}, {"options", {{"steps", 3}}}};
  results.rows = {make_row("cpu", "fp32", 0.1234567890123), make_row("mps", "bf16", 5)};
  results.rows[1].loss_difference = std::nan("");
  results.rows[1].repetition_medians = {4.5, 5, 5.5};
  results.rows[1].setting.pass = Pass::kInference;
  results.rows[1].lost_share.reset();
  results.absent = {{"cuda", "none here"}};
  results.failures = {{"mps_fp16/a/batch_1", "out of memory"}};

  const Results read = from_text(to_text(results), "a.json");

  EXPECT_EQ(read.context, results.context);
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(row_name(read.rows[1].setting), "mps_bf16/784-256-256-10/batch_128/inference");
  EXPECT_EQ(read.rows[0].step_ms.median, results.rows[0].step_ms.median);
  EXPECT_EQ(read.rows[0].step_ms.upper_quartile, results.rows[0].step_ms.upper_quartile);
  EXPECT_EQ(read.rows[0].step_ms.num_steps, 3);
  EXPECT_EQ(read.rows[0].peak_memory_bytes, results.rows[0].peak_memory_bytes);
  EXPECT_EQ(read.rows[0].loss_difference, 1e-7);
  EXPECT_EQ(read.rows[0].round_medians, results.rows[0].round_medians);
  EXPECT_EQ(read.rows[0].first_step_ms, results.rows[0].first_step_ms);
  EXPECT_EQ(read.rows[0].lost_share, 0.01);
  EXPECT_FALSE(read.rows[1].lost_share);
  EXPECT_TRUE(std::isnan(read.rows[1].loss_difference));
  EXPECT_EQ(read.rows[1].repetition_medians, results.rows[1].repetition_medians);
  EXPECT_EQ(read.absent.at(0).reason, "none here");
  EXPECT_EQ(read.failures.at(0).reason, "out of memory");
  EXPECT_EQ(to_text(read), to_text(results));
}

TEST(ResultsTest, OtherFilesAreRefusedWithTheirPlace) {
  const auto error = [](const std::string& text) {
    return test::error_of([&] { from_text(text, "a.json"); });
  };
  EXPECT_EQ(error("device: cpu").kind(), ErrorKind::kData);
  const std::string expected = "a.json: expected a file written by bench_devices --json: ";
  EXPECT_EQ(std::string(error("{}").what()).substr(0, expected.size()), expected);
  EXPECT_EQ(
      std::string(error(R"({"schema_version": 2, "rows": 3})").what()).substr(0, expected.size()),
      expected);
  EXPECT_STREQ(error(R"({"schema_version": 1})").what(),
               "a.json: expected schema_version 2, got 1; create a new file");
}

TEST(ResultsTest, AFileThatIsNotThereIsNamed) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "base.json").string();
  const Error error = test::error_of([&] { read_results(file); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_EQ(error.what(), file + ": cannot be read; create it with bench_devices --json " + file);
  EXPECT_EQ(test::error_of([&] { read_results(folder.path()); }).kind(), ErrorKind::kData);
}

}  // namespace
}  // namespace trainer::bench
