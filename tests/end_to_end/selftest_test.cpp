// SPDX-License-Identifier: Apache-2.0
// Drives `trainer selftest`, as a user does.
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "support/process.h"
#include "support/running_program.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

ProcessResult selftest_in(const fs::path& folder, const std::string& arguments) {
  return test::trainer_in(folder, "selftest resume " + arguments, "TMPDIR=" + folder.string());
}

TEST(SelftestTest, AKilledRunEndsWithTheSameBits) {
  const test::TemporaryFolder folder;
  const ProcessResult result = selftest_in(folder.path(), "--kills 5");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(std::regex_search(
      result.out,
      std::regex(R"(interrupted  5 times by SIGKILL, (once|\d times) during training\n)"
                 R"(compared     \d+ runs? with the reference: weights, optimizer, counters and )"
                 R"(metrics are bit for bit identical\n$)")))
      << result.out;
  EXPECT_NE(result.err.find("kill 5 of 5 "), std::string::npos) << result.err;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(SelftestTest, TheRunCanBeTheUsers) {
  const test::TemporaryFolder folder;
  folder.write("mine.yaml", "data: {synthetic: {num_samples: 3000}}\ntraining: {epochs: 20}\n");
  const ProcessResult result =
      selftest_in(folder.path(), "--kills 1 -q --config mine.yaml --seed 3");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_NE(result.out.find("reference    20 epochs, 1,500 steps in "), std::string::npos)
      << result.out;
}

TEST(SelftestTest, WhatAFailedRunSaidIsShownAndTheFolderKept) {
  const test::TemporaryFolder folder;
  const ProcessResult result = selftest_in(folder.path(),
                                           "--kills 1 data.source=csv data.target=y "
                                           "data.path=none.csv");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  ASSERT_FALSE(fs::is_empty(folder.path())) << result.err;
  const fs::path kept = fs::directory_iterator(folder.path())->path();
  EXPECT_EQ(result.err, "error: a run exited with code 3 and printed:\nerror: " +
                            (folder.path() / "none.csv").string() +
                            ": no such file\nthe runs are kept in " + kept.string() + "\n");
}

TEST(SelftestTest, ABadConfigurationEndsWithTwoAndMakesNothing) {
  const test::TemporaryFolder folder;
  const ProcessResult result = selftest_in(folder.path(), "--lr fast");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: --lr: training.learning_rate: expected a number > 0, got \"fast\"\n");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(SelftestTest, CtrlCLeavesNothingBehind) {
  const test::TemporaryFolder folder;
  const test::TemporaryFolder beside;
  const std::string said = (beside.path() / "said").string();
  ASSERT_EQ(mkfifo(said.c_str(), 0600), 0);
  test::RunningProgram selftest(folder.path(), "selftest resume --kills 1000 2>" + said,
                                test::Moments::kPassed,
                                "export TMPDIR=" + folder.path().string() + ";");
  // Then there are a whole run, one that was killed, and soon the next.
  std::ifstream lines(said);
  std::string line;
  while (std::getline(lines, line) && line.find("kill 1 of ") == std::string::npos) {
  }
  selftest.send(SIGTERM);
  const ProcessResult result = selftest.finish();
  EXPECT_EQ(result.exit_code, 143) << line;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace trainer
