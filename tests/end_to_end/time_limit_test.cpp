// SPDX-License-Identifier: Apache-2.0
// Runs with a limit of their time.
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

using test::ProcessResult;

class TimeLimitTest : public test::ProgramTest {
 protected:
  ProcessResult train(const std::string& more) {
    return trainer(test::with_config("penguins.yaml") + more);
  }
};

TEST_F(TimeLimitTest, ARunGetsAsManyEpochsAsFitAndKeepsThem) {
  const ProcessResult result = train("training.epochs=100000000 training.max_seconds=0.3");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find(" epochs (of 100,000,000: as many as fit into 0.3 s) of "),
            std::string::npos)
      << result.err;
  const Json run = summary();
  const auto epochs = run["epochs"].get<int64_t>();
  EXPECT_GE(epochs, 1);
  EXPECT_LT(epochs, 100'000'000);
  const std::string resolved = test::read_file(folder_.path() / "runs/latest/config_resolved.yaml");
  EXPECT_NE(resolved.find("  epochs: " + std::to_string(epochs) + " "), std::string::npos);
  const ProcessResult again = trainer("--resume runs/latest");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("this run is already complete"), std::string::npos) << again.err;
}

TEST_F(TimeLimitTest, ARecipeSetsNoOtherEpochs) {
  const ProcessResult result =
      train("recipe=tabm training.epochs=100000000 training.max_seconds=2");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find(" epochs (of 100,000,000: as many as fit into 2.0 s) of "),
            std::string::npos)
      << result.err;
  EXPECT_EQ(train("recipe=realmlp training.epochs=3 training.max_seconds=600").exit_code, 0);
  EXPECT_EQ(summary()["epochs"], 3);
}

// The number of epochs that is asked for counts, though it does not fit.
TEST_F(TimeLimitTest, AResumedRunIsNotPlannedAgain) {
  ASSERT_EQ(train("training.epochs=1000000 training.max_seconds=0.2").exit_code, 0);
  const int64_t more = 3 * summary()["epochs"].get<int64_t>();
  const ProcessResult longer = trainer("--resume runs/latest --epochs " + std::to_string(more));
  ASSERT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_EQ(summary()["epochs"], more);
  const std::string resolved = test::read_file(folder_.path() / "runs/latest/config_resolved.yaml");
  EXPECT_NE(resolved.find("\n  epochs: " + std::to_string(more) + " "), std::string::npos);
}

TEST_F(TimeLimitTest, EnoughTimeChangesNothing) {
  const ProcessResult result = train("training.epochs=2 training.max_seconds=600");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(summary()["epochs"], 2);
  EXPECT_EQ(result.err.find("as many as fit"), std::string::npos) << result.err;
}

TEST_F(TimeLimitTest, TooLittleForOneEpochIsAnErrorBeforeTraining) {
  const ProcessResult result = train("training.max_seconds=1e-9");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(result.err.starts_with(
      "error: training.max_seconds: expected time for at least one epoch, got "))
      << result.err;
  EXPECT_TRUE(result.err.ends_with("; allow more time, or train on fewer rows\n")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "runs"));
  const ProcessResult warm = train(
      "training.epochs=1000000 training.max_seconds=0.3 "
      "training.schedule.warmup_epochs=1000000");
  EXPECT_EQ(warm.exit_code, 2);
  EXPECT_NE(warm.err.find("expected time for at least 1000000 epochs of warm-up"),
            std::string::npos)
      << warm.err;
}

TEST_F(TimeLimitTest, TheMembersOfAnEnsembleAreNotTrainedAgain) {
  const std::string config = test::with_config("penguins.yaml");
  const ProcessResult first = trainer(
      "ensemble " + config + "--members 2 training.epochs=1000000 training.max_seconds=0.2");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const ProcessResult again = trainer("ensemble --resume runs/latest --json");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(parse_json(again.out)["members"].size(), 2U);
  EXPECT_EQ(again.err.find("epoch "), std::string::npos) << again.err;
}

TEST_F(TimeLimitTest, WhatIsPrintedSaysThatTheNumberOfEpochsIsOpen) {
  const ProcessResult result = train("training.max_seconds=60 --print-config");
  EXPECT_NE(result.out.find("\n  # epochs: as many as fit into training.max_seconds, at most "),
            std::string::npos)
      << result.out;
}

}  // namespace
}  // namespace trainer
