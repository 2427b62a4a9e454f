// SPDX-License-Identifier: Apache-2.0
#include "cli/agent.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/agent_environment.h"

namespace trainer::cli {
namespace {

Json fixes(const std::string& message, const std::vector<const char*>& arguments = {}) {
  return proposed_fixes(message, arguments);
}

TEST(AgentTest, AMistakeInAFileIsCorrectedAtItsLine) {
  EXPECT_EQ(fixes("a b.yaml:3: training.lerning_rate: unknown key; did you mean "
                  "\"training.learning_rate\"?"),
            Json::array({{{"file", "a b.yaml"},
                          {"line", 3},
                          {"replace", "lerning_rate"},
                          {"with", "learning_rate"}}}));
  EXPECT_EQ(fixes("a.yaml:3: lr: unknown key; did you mean \"training.learning_rate\"?"),
            Json::array({{{"file", "a.yaml"},
                          {"line", 3},
                          {"replace", "lr"},
                          {"with", "training.learning_rate"}}}));
  EXPECT_EQ(
      fixes("a.yaml:7: training.schedule.name: expected one of linear and cosine, got "
            "\"cosin\"; did you mean \"cosine\"?"),
      Json::array({{{"file", "a.yaml"}, {"line", 7}, {"replace", "cosin"}, {"with", "cosine"}}}));
}

TEST(AgentTest, AMistakeInTheCommandLineGivesTheRightOne) {
  EXPECT_EQ(fixes("command line: trainng.epochs: unknown key; did you mean \"training.epochs\"?",
                  {"trainer", "--config", "a.yaml", "trainng.epochs=3"}),
            Json::array({{{"replace", "trainng.epochs"},
                          {"with", "training.epochs"},
                          {"command", {"trainer", "--config", "a.yaml", "training.epochs=3"}}}}));
  EXPECT_EQ(
      fixes("--chek: unknown flag; did you mean \"--check\"?", {"t", "--chek", "chek"}),
      Json::array(
          {{{"replace", "--chek"}, {"with", "--check"}, {"command", {"t", "--check", "chek"}}}}));
  EXPECT_EQ(
      fixes("--recipe: expected one of plain and tabm, got \"tamb\"; did you mean \"tabm\"?",
            {"t", "--recipe=tamb", "tamb"}),
      Json::array(
          {{{"replace", "tamb"}, {"with", "tabm"}, {"command", {"t", "--recipe=tabm", "tamb"}}}}));
}

TEST(AgentTest, ThereIsAFixForEachLineThatProposesOne) {
  EXPECT_EQ(fixes("").size(), 0U);
  EXPECT_EQ(fixes("x.csv: no such file").size(), 0U);
  EXPECT_EQ(fixes("--a: unknown flag; did you mean \"--b\"?", {"t", "--c"}).size(), 0U);
  EXPECT_EQ(fixes("a.yaml:1: x: unknown key; did you mean \"y\"?\nother\n"
                  "a.yaml:2: v: unknown key; did you mean \"w\"?")
                .size(),
            2U);
}

// Of English with code, a token has more than three bytes.
TEST(AgentTest, TheManualHasFewerThanFourThousandTokens) {
  const std::string manual = agent_manual(command_table());
  EXPECT_LT(manual.size(), 3 * 4000U);
  for (const CommandRow& row : command_table()) {
    if (row.make == nullptr) continue;
    EXPECT_NE(manual.find(std::string("- `") + row.name), std::string::npos) << row.name;
  }
}

TEST(AgentTest, TheTestsKnowTheVariablesOfAgents) {
  const auto known = agent_variables();
  EXPECT_TRUE(std::equal(known.begin(), known.end(), std::begin(test::kAgentVariables),
                         std::end(test::kAgentVariables),
                         [](const std::string& a, const std::string& b) { return a == b; }));
}

}  // namespace
}  // namespace trainer::cli
