// SPDX-License-Identifier: Apache-2.0
#include "devices/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/files.h"

namespace trainer::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_text(const std::vector<std::string>& arguments) {
  return test::error_of([&] { parse_options(arguments); }).what();
}

std::vector<std::string> workload_names(const Options& options) {
  std::vector<std::string> names;
  for (const Workload& w : options.workloads) {
    names.push_back(w.name + "/" + std::to_string(w.batch_size));
  }
  return names;
}

TEST(OptionsTest, DefaultsAreAllDevicesPrecisionsStepsAndThreeModels) {
  const Options options = parse_options({});
  EXPECT_THAT(options.devices, ElementsAre("cpu", "mps", "cuda"));
  EXPECT_THAT(options.precisions, ElementsAre("fp32", "fp16", "bf16"));
  EXPECT_THAT(options.train_steps, ElementsAre("fused", "autograd"));
  EXPECT_THAT(workload_names(options),
              ElementsAre("10-128-128-2/32", "784-256-256-10/128", "784-1024-1024-10/512"));
  EXPECT_EQ(options.warmup_steps, 10);
  EXPECT_EQ(options.steps, 50);
  EXPECT_EQ(options.max_slowdown, 5);
  EXPECT_EQ(options.max_lost, 10);
  EXPECT_EQ(options.num_checks, 0);
  EXPECT_EQ(options.help, "");
}

TEST(OptionsTest, ListsAreDividedAtCommasAndRepeatsAreTakenOnce) {
  const Options options = parse_options(
      {"--device=cuda:1,cpu,cpu", "--precision", "fp32", "--train-step", "fused", "--steps", "7"});
  EXPECT_THAT(options.devices, ElementsAre("cuda:1", "cpu"));
  EXPECT_THAT(options.precisions, ElementsAre("fp32"));
  EXPECT_THAT(options.train_steps, ElementsAre("fused"));
  EXPECT_EQ(options.steps, 7);
}

TEST(OptionsTest, EachModelIsTakenWithEachBatchSize) {
  const Options options = parse_options({"--model", "tiny,20-64-32-3", "--batch-size", "8,16"});
  EXPECT_THAT(workload_names(options),
              ElementsAre("10-128-128-2/8", "10-128-128-2/16", "20-64-32-3/8", "20-64-32-3/16"));
  const Workload& own = options.workloads.back();
  EXPECT_EQ(own.num_features, 20);
  EXPECT_THAT(own.hidden_sizes, ElementsAre(64, 32));
  EXPECT_EQ(own.num_classes, 3);
}

TEST(OptionsTest, AModelMayHaveNoHiddenLayer) {
  EXPECT_TRUE(parse_options({"--model", "20-3"}).workloads.front().hidden_sizes.empty());
}

TEST(OptionsTest, AConfigurationReplacesTheModelsAndTakesOverrides) {
  const Options options =
      parse_options({"--config", "a.yaml", "training.batch_size=64", "-c", "b.yaml",
                     "model.hidden_sizes=[8,8]", "--batch-size", "16,32", "--inference"});
  EXPECT_THAT(options.config_files, ElementsAre("a.yaml", "b.yaml"));
  ASSERT_EQ(options.overrides.size(), 2U);
  EXPECT_EQ(options.overrides[0].key, "training.batch_size");
  EXPECT_EQ(options.overrides[0].value, "64");
  EXPECT_EQ(options.overrides[1].value, "[8,8]");
  EXPECT_THAT(options.batch_sizes, ElementsAre(16, 32));
  EXPECT_TRUE(options.workloads.empty());
  EXPECT_EQ(options.pass, Pass::kInference);

  EXPECT_EQ(error_text({"--config", "a.yaml", "--model", "tiny"}),
            "--model: --config has a model already; remove one, or set "
            "model.hidden_sizes=[256,256]");
  EXPECT_EQ(error_text({"seed=3"}), "seed=3: changes a configuration; add --config FILE");
  EXPECT_THAT(error_text({"--config", "a.yaml", "=3"}),
              HasSubstr("expected key=value, got \"=3\""));
}

TEST(OptionsTest, TheNumberOfConsistencyChecksMayBeLeftOut) {
  EXPECT_EQ(parse_options({"--check-consistency"}).num_checks, 5);
  EXPECT_EQ(parse_options({"--check-consistency", "3"}).num_checks, 3);
  EXPECT_EQ(parse_options({"--check-consistency=4"}).num_checks, 4);
  const Options options = parse_options({"--check-consistency", "--json", "a.json"});
  EXPECT_EQ(options.num_checks, 5);
  EXPECT_EQ(options.json, "a.json");
}

TEST(OptionsTest, FlagsOfGoogleBenchmarkAreLeftToIt) {
  const Options options =
      parse_options({"--benchmark_filter=cpu", "--steps", "3", "--v=1", "--benchmark_format=json"});
  EXPECT_THAT(options.google_arguments,
              ElementsAre("--benchmark_filter=cpu", "--v=1", "--benchmark_format=json"));
  EXPECT_EQ(options.steps, 3);
}

TEST(OptionsTest, MistakesNameTheFlagAndWhatWasExpected) {
  EXPECT_EQ(error_text({"--device", "gpu"}),
            "--device: expected cpu, mps, cuda or cuda:N, got \"gpu\"; see bench_devices --help");
  EXPECT_EQ(error_text({"--precision", "fp64"}),
            "--precision: expected fp32, fp16 or bf16, got \"fp64\"; see bench_devices --help");
  EXPECT_EQ(error_text({"--steps", "0"}),
            "--steps: expected an integer >= 1, got \"0\"; see bench_devices --help");
  EXPECT_EQ(error_text({"--max-slowdown", "-1"}),
            "--max-slowdown: expected a number >= 0, got \"-1\"; see bench_devices --help");
  EXPECT_THAT(error_text({"--model", "20-x-3"}), HasSubstr("widths such as 20-64-64-3"));
  EXPECT_THAT(error_text({"--model", "20-64-1"}), HasSubstr("got \"20-64-1\""));
  EXPECT_THAT(error_text({"--train-step", "fast"}), HasSubstr("expected autograd, fused or both"));
  EXPECT_THAT(error_text({"--frob"}), HasSubstr("--frob"));
  EXPECT_EQ(test::error_of([] { parse_options({"extra"}); }).kind(), ErrorKind::kUsage);
}

TEST(OptionsTest, HelpNamesEveryFlag) {
  const std::string help = parse_options({"--help"}).help;
  for (const char* flag : {"--device",        "--precision",   "--model",
                           "--batch-size",    "--train-step",  "--threads",
                           "--warmup-steps",  "--steps",       "--check-steps",
                           "--growth-steps",  "--max-seconds", "--inference",
                           "--config",        "KEY=VALUE",     "--check-consistency",
                           "--max-variation", "--json",        "--baseline",
                           "--max-slowdown",  "--history",     "--benchmark_filter",
                           "Examples:",       "Exit codes:"}) {
    EXPECT_THAT(help, HasSubstr(flag));
  }
  for (const std::string& line : test::lines_of(help)) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace
}  // namespace trainer::bench
