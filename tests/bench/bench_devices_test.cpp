// SPDX-License-Identifier: Apache-2.0
// The program itself with tiny settings; what it measures is not asserted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/core/json.h"

#include "devices/results.h"
#include "support/process.h"

namespace trainer::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTiny =
    " --model 10-8-2 --batch-size 4 --steps 5 --warmup-steps 0 --check-steps 3 --threads 1";

test::ProcessResult bench_devices(const std::string& arguments) {
  return test::run_process(BENCH_DEVICES_BINARY + arguments);
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
  EXPECT_THAT(result.out, HasSubstr("x faster than cpu_fp32"));
  EXPECT_THAT(result.out, HasSubstr("Recommendation: device: "));
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
  EXPECT_GT(row.peak_memory_bytes, 0U);
  EXPECT_LT(row.loss_difference, 1e-3);
  EXPECT_EQ(results.context.at("options").at("threads"), 1);
  EXPECT_TRUE(results.context.at("system").at("build").contains("git_commit"));
}

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
  EXPECT_TRUE(parsed.at("benchmarks").at(0).contains("median_ms"));
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
