// SPDX-License-Identifier: Apache-2.0
// What scripts and coding agents get: --agent, and --on-end.
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/agent_environment.h"
#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"

namespace trainer {
namespace {

using test::ProcessResult;
using AgentProgramTest = test::ProgramTest;

const char* const kTrain =
    "data.source=synthetic training.epochs=1 threads=1 data.test_fraction=0.2 ";

TEST_F(AgentProgramTest, ResultsAreMarkdownAndNothingElseIsSaid) {
  const ProcessResult result = trainer(std::string(kTrain) + "--agent");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out.starts_with("- trained: 1 epoch, ")) << result.out;
  EXPECT_NE(result.out.find("\n| metric | validation | test | baseline |\n|---|---:|---:|---:|\n"),
            std::string::npos)
      << result.out;
  const ProcessResult list = trainer("runs list --agent");
  EXPECT_TRUE(list.out.starts_with("| name | state |")) << list.out;
}

TEST_F(AgentProgramTest, TheVariableOfAnAgentIsEnoughUnlessTheOutputIsATerminal) {
  for (const char* variable : test::kAgentVariables) {
    const ProcessResult result = trainer("evl", std::string(variable) + "=1");
    EXPECT_TRUE(result.err.starts_with("{")) << variable << result.err;
  }
  EXPECT_TRUE(trainer("evl", "AGENT=").err.starts_with("error: "));
  EXPECT_EQ(trainer("manual", "AGENT=1").out, trainer("manual").out);
}

TEST_F(AgentProgramTest, AnErrorIsALineOfJsonWithWhatToChange) {
  const ProcessResult result = trainer(std::string(kTrain) + "lerning_rate=1 --agent");
  EXPECT_EQ(result.exit_code, 2);
  const Json error = parse_json(result.err);
  EXPECT_EQ(error["exit_code"], 2);
  EXPECT_EQ(error["message"],
            "command line: lerning_rate: unknown key; did you mean \"training.learning_rate\"?");
  ASSERT_EQ(error["fixes"].size(), 1U);
  const Json& command = error["fixes"][0]["command"];
  EXPECT_EQ(command[command.size() - 2], "training.learning_rate=1");
  folder_.write("a.yaml", "data:\n  source: synthetic\n  test_fractoin: 0.5\n");
  EXPECT_EQ(parse_json(trainer("--config a.yaml --agent").err)["fixes"],
            Json::array({{{"file", "a.yaml"},
                          {"line", 3},
                          {"replace", "test_fractoin"},
                          {"with", "test_fraction"}}}));
}

TEST_F(AgentProgramTest, TheCommandOfOnEndKnowsHowItEnded) {
  const std::string echo =
      R"sh(--on-end 'echo "$TRAINER_EXIT_CODE,$TRAINER_ERROR,$(basename "$TRAINER_RUN")" > end')sh";
  const auto end = [&] { return test::read_file(path("end")); };
  ASSERT_EQ(trainer(kTrain + echo).exit_code, 0);
  EXPECT_EQ(end(),
            "0,," + std::filesystem::canonical(path("runs/latest")).filename().string() + "\n");
  EXPECT_EQ(trainer("eval nothing " + echo).exit_code, 7);
  EXPECT_TRUE(end().starts_with("7,nothing: no such checkpoint")) << end();
  const ProcessResult failed = trainer("inspect --on-end 'exit 3'");
  EXPECT_EQ(failed.exit_code, 0);
  EXPECT_NE(failed.err.find("warning: --on-end: \"exit 3\" failed\n"), std::string::npos);
  // A mistake in the command line starts nothing.
  folder_.write("end", "");
  EXPECT_EQ(trainer("evl " + echo).exit_code, 2);
  EXPECT_EQ(end(), "");
}

}  // namespace
}  // namespace trainer
