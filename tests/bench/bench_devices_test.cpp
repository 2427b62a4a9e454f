// SPDX-License-Identifier: Apache-2.0
// The program itself with tiny settings; what it measures is not asserted.

#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "devices/results.h"
#include "support/process.h"

namespace trainer::bench {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// All steps are made, however long they take, and rows are compared beside any other program.
const std::string kQuick =
    " --warmup-steps 0 --check-steps 3 --threads 1 --max-seconds 10000 --max-lost 1000000";
const std::string kFew = kQuick + " --steps 5 --growth-steps 10";
const std::string kModel = " --model 10-8-2 --batch-size 4";
const std::string kTiny = kFew + kModel;

test::ProcessResult bench_devices(const std::string& arguments,
                                  const std::string& environment = "") {
  return test::run_process(BENCH_DEVICES_BINARY + arguments, environment);
}

// Two columns and a class, 60 rows.
std::string table_text() {
  std::string text = "a,b,class\n";
  for (int i = 0; i < 60; ++i) {
    text += fmt::format("{},{},{}\n", i % 7, i % 11, i % 2 == 0 ? "no" : "yes");
  }
  return text;
}

class BenchDevicesTest : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  // Writes a file of the tiny rows with all times multiplied.
  std::string baseline(double factor) const {
    bench_devices(kTiny + " --json " + file("measured.json"));
    Results results = read_results(file("measured.json"));
    for (Row& row : results.rows) {
      for (double* time :
           {&row.step_ms.median, &row.step_ms.lower_quartile, &row.step_ms.upper_quartile}) {
        *time *= factor;
      }
    }
    return folder_.write("baseline.json", to_text(results)).string();
  }

  test::TemporaryFolder folder_;
};

TEST_F(BenchDevicesTest, ShowsATableAbsencesAndARecommendation) {
  const auto result = bench_devices(kTiny);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("BENCHMARK COMPARISON"));
  EXPECT_THAT(result.out, HasSubstr("10-8-2, batch 4\nConfig"));
  EXPECT_THAT(result.out, HasSubstr("\ncpu_fp32 "));
  EXPECT_THAT(result.out, HasSubstr("\ncpu_fp32_autograd "));
  EXPECT_THAT(result.out, ContainsRegex("x faster than|beyond the noise|Not compared: "));
  EXPECT_THAT(result.out, ContainsRegex("Recommendation: (device: cpu|none)"));
  EXPECT_THAT(result.out, Not(HasSubstr("wrong loss")));
}

TEST_F(BenchDevicesTest, ListsADeviceThatIsNotThere) {
  const auto result = bench_devices(kTiny + " --device cpu,cuda:99");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Absent: cuda:99: LibTorch finds none on this machine\n"));

  const auto alone = bench_devices(kTiny + " --device cuda:99");
  EXPECT_EQ(alone.exit_code, 4);
  EXPECT_THAT(alone.out, HasSubstr("Absent: cuda:99"));
  EXPECT_THAT(alone.err,
              HasSubstr("none of the requested configurations is available on this machine"));
}

TEST_F(BenchDevicesTest, WritesNumbersWithTheirContext) {
  const auto result =
      bench_devices(kTiny + " --train-step fused --device cpu --json " + file("a.json"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Results results = read_results(file("a.json"));
  ASSERT_FALSE(results.rows.empty());
  const Row& row = results.rows[0];
  EXPECT_EQ(row_name(row.setting), "cpu_fp32/10-8-2/batch_4");
  EXPECT_EQ(row.step_ms.num_steps, 5);
  EXPECT_LE(row.step_ms.min, row.step_ms.median);
  EXPECT_LE(row.step_ms.median, row.step_ms.max);
  EXPECT_EQ(row.round_medians.size(), 5U);
  EXPECT_GT(row.first_step_ms, 0);
  EXPECT_GT(row.peak_memory_bytes, 0U);
  EXPECT_EQ(row.growth_steps, 10);
  EXPECT_LT(row.loss_difference, 1e-3);
  EXPECT_EQ(results.context.at("options").at("threads"), 1);
  EXPECT_TRUE(results.context.at("system").at("build").contains("git_commit"));
  EXPECT_TRUE(results.context.at("system").contains("accelerators"));
}

TEST_F(BenchDevicesTest, RowsOfAWorkloadHaveTheSameRounds) {
  const auto result = bench_devices(kQuick + kModel + " --device cpu --steps 12" +
                                    " --benchmark_repetitions=2 --json " + file("a.json"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const Row& row : read_results(file("a.json")).rows) {
    EXPECT_EQ(row.step_ms.num_steps, 24);
    EXPECT_EQ(row.round_medians.size(), 20U);
    EXPECT_EQ(row.repetition_medians.size(), 2U);
  }
}

TEST_F(BenchDevicesTest, TimesTheForwardPassAlone) {
  const auto result = bench_devices(kFew + " --inference --device cpu --model 10-8-2" +
                                    " --batch-size 1,2000 --json " + file("a.json"));
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_THAT(result.out, HasSubstr("BENCHMARK COMPARISON: forward pass (inference), 0 warm-up"));
  EXPECT_THAT(result.out, HasSubstr("10-8-2, batch 1, forward pass\nConfig"));
  EXPECT_THAT(result.out, HasSubstr("10-8-2, batch 2000, forward pass\nConfig"));
  const Row row = read_results(file("a.json")).rows.at(0);
  EXPECT_EQ(row_name(row.setting), "cpu_fp32/10-8-2/batch_1/inference");
  EXPECT_TRUE(has_right_loss(row));
}

TEST_F(BenchDevicesTest, MeasuresAConfigurationWithItsDataAndRecipe) {
  folder_.write("rows.csv", table_text());
  const auto config = folder_.write(
      "own.yaml",
      "recipe: realmlp\ndata: {source: csv, path: rows.csv, target: class}\n"
      "model: {hidden_sizes: [16, 16]}\ntraining: {optimizer: {weight_decay: 0.1}}\n");
  const std::string arguments = kFew + " --device cpu --config " + config.string();
  const auto result = bench_devices(arguments + " training.batch_size=8 --json " + file("a.json"));
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_THAT(result.out,
              HasSubstr("Configuration: " + config.string() + " training.batch_size=8\n"));
  EXPECT_THAT(result.out, HasSubstr("own, batch 8\nConfig"));
  EXPECT_EQ(row_name(read_results(file("a.json")).rows.at(0).setting), "cpu_fp32/own/batch_8");

  const auto sizes = bench_devices(arguments + " --batch-size 4,16 --benchmark_list_tests=true");
  EXPECT_THAT(sizes.out, HasSubstr("cpu_fp32/own/batch_4/"));
  EXPECT_THAT(sizes.out, HasSubstr("cpu_fp32/own/batch_16/"));

  const auto wrong = bench_devices(arguments + " training.batch_size=x");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("training.batch_size: expected an integer"));
  EXPECT_EQ(bench_devices(arguments + " data.path=" + file("none.csv")).exit_code, 3);
}

#ifdef GROWING_MEMORY
TEST_F(BenchDevicesTest, ARowThatNeedsMoreAndMoreMemoryFails) {
  const auto result = bench_devices(
      kQuick + kModel +
          " --device cpu --precision fp32 --train-step fused --steps 5 --growth-steps 60",
      "LD_PRELOAD=" GROWING_MEMORY);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, ContainsRegex("cpu_fp32: memory grew by .* MiB in 60 steps; at most 100 "
                                        "MB are allowed\n"));
  EXPECT_THAT(result.out, HasSubstr("because no row has a correct loss and bounded memory"));
}
#endif

#ifdef SIMULATED_MPS
TEST_F(BenchDevicesTest, MeasuresTheCpuAndAnAcceleratorInTurn) {
  for (const auto& [device, library] :
       {std::pair("mps", SIMULATED_MPS), std::pair("cuda:0", SIMULATED_CUDA)}) {
    const auto result = bench_devices(kTiny + " --precision fp32 --train-step fused --device cpu," +
                                          device + " --json " + file("a.json"),
                                      fmt::format("LD_PRELOAD={}", library));
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
    EXPECT_THAT(result.out, HasSubstr(fmt::format("Accelerators: {}\n", device)));
    const Results results = read_results(file("a.json"));
    ASSERT_EQ(results.rows.size(), 2U);
    EXPECT_EQ(config_name(results.rows[1].setting), fmt::format("{}_fp32", device));
    EXPECT_TRUE(is_sound(results.rows[1]));
    EXPECT_EQ(results.context.at("system").at("accelerators").at(0).at("device"), device);
  }
}

TEST_F(BenchDevicesTest, OtherRowsGoOnWhereADeviceFails) {
  const auto result = bench_devices(
      kTiny + " --train-step fused --precision fp32,bf16 --device mps,cpu --json " + file("a.json"),
      "LD_PRELOAD=" SIMULATED_MPS " SIMULATED_DEVICE=bf16=0,lose_in=500");
  EXPECT_EQ(result.exit_code, 1) << result.err << result.out;
  EXPECT_THAT(result.out, HasSubstr("Failed: mps_fp32/10-8-2/batch_4: "));
  const Results results = read_results(file("a.json"));
  ASSERT_EQ(results.rows.size(), 2U);
  EXPECT_EQ(config_name(results.rows[0].setting), "cpu_fp32");
  EXPECT_EQ(results.failures.size(), 1U);
}
#endif

TEST_F(BenchDevicesTest, StreamsThatAreClosedTakeNothingFromItsFiles) {
  test::run_process("{ " BENCH_DEVICES_BINARY + kTiny + " --device cpu --json " + file("a.json") +
                    " <&- >&- 2>&-; }");
  EXPECT_FALSE(read_results(file("a.json")).rows.empty());
}

TEST_F(BenchDevicesTest, PassesAgainstASlowBaselineAndFailsAgainstAFastOne) {
  const auto passed = bench_devices(kTiny + " --baseline " + baseline(1e6));
  EXPECT_EQ(passed.exit_code, 0) << passed.err;
  EXPECT_THAT(passed.out, HasSubstr("No row is slower by more than 5 % and outside the noise."));

  const auto failed = bench_devices(kTiny + " --max-slowdown 20 --history " + file("h.csv") +
                                    " --baseline " + baseline(1e-6));
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("SLOWER"));
  EXPECT_THAT(failed.out, HasSubstr("rows are slower by more than 20 % and outside the noise."));
  EXPECT_THAT(test::read_file(file("h.csv")), HasSubstr(",failed,"));
}

TEST_F(BenchDevicesTest, ChecksConsistencyAgainstItsBound) {
  const auto passed = bench_devices(kTiny + " --check-consistency 2 --max-variation 1000000");
  EXPECT_EQ(passed.exit_code, 0) << passed.err;
  EXPECT_THAT(passed.out, HasSubstr("Consistency, medians of 2 repetitions"));
  EXPECT_THAT(passed.out, HasSubstr("No row varies by more than 1000000 %."));
}

TEST_F(BenchDevicesTest, FlagsOfGoogleBenchmarkWork) {
  const auto list = bench_devices(kTiny + " --device cpu --benchmark_list_tests=true");
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("cpu_fp32/10-8-2/batch_4/iterations:5/manual_time\n"));
  EXPECT_THAT(list.out, Not(HasSubstr("Recommendation")));

  const auto filtered = bench_devices(kTiny + " --benchmark_filter=cpu_fp32/");
  EXPECT_EQ(filtered.exit_code, 0) << filtered.err;
  EXPECT_THAT(filtered.out, Not(HasSubstr("cpu_fp32_autograd")));

  const auto json = bench_devices(
      kTiny + " --benchmark_format=json --benchmark_repetitions=3 --benchmark_filter=cpu_fp32/");
  EXPECT_EQ(json.exit_code, 0) << json.err;
  const auto parsed = parse_json(json.out);
  EXPECT_EQ(parsed.at("context").at("executable"), "bench_devices");
  EXPECT_EQ(parsed.at("benchmarks").at(0).at("repetitions"), 3);
  EXPECT_GT(parsed.at("benchmarks").at(0).at("median_ms"), 0);
  EXPECT_THAT(json.err, HasSubstr("Recommendation"));
}

TEST_F(BenchDevicesTest, MistakesEndWithTheirExitCodes) {
  EXPECT_EQ(bench_devices(" --steps 0").exit_code, 2);
  EXPECT_EQ(bench_devices(" --benchmark_frob=1").exit_code, 2);
  EXPECT_EQ(bench_devices(kTiny + " --benchmark_filter=nothing").exit_code, 2);
  EXPECT_EQ(bench_devices(kTiny + " --baseline " + file("none.json")).exit_code, 3);
  EXPECT_EQ(bench_devices(kTiny + " --json " + file("none/a.json")).exit_code, 8);
  const auto help = bench_devices(" --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("Examples:"));
}

}  // namespace
}  // namespace trainer::bench
