// SPDX-License-Identifier: Apache-2.0
// The manual page, as `man` and `mandoc` see it.
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "support/program_test.h"

namespace trainer {
namespace {

#define SKIP_WITHOUT_MAN(program)                                                           \
  if (test::run_process("command -v " program).exit_code != 0) {                            \
    GTEST_SKIP() << "needs " program " (scripts/setup.sh test with TRAINER_REQUIRE_ALL=1)"; \
  }

class ManualPageTest : public test::ProgramTest {
 protected:
  ManualPageTest() { folder_.write("trainer.1", trainer("manual").out); }

  test::ProcessResult in_folder(const std::string& command) const {
    return test::run_process("cd " + folder_.path().string() + " && " + command);
  }
};

TEST_F(ManualPageTest, HasNothingThatMandocWarnsOf) {
  SKIP_WITHOUT_MAN("mandoc");
  const test::ProcessResult result = in_folder("mandoc -T lint trainer.1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out + result.err, "");
}

TEST_F(ManualPageTest, HasNothingThatManWarnsOfAndFitsATerminal) {
  SKIP_WITHOUT_MAN("man");
  const test::ProcessResult result =
      in_folder("LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings --local-file ./trainer.1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out.starts_with("TRAINER(1)")) << result.out.substr(0, 80);
  EXPECT_NE(result.out.find("trainer --config houses.yaml --lr 2e-3"), std::string::npos);
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace
}  // namespace trainer
