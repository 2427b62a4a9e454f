// SPDX-License-Identifier: Apache-2.0
// main() of the test programs: GoogleTest's, and nobody overlooks a test that was skipped. The file
// that TRAINER_SKIPPED_TESTS names gets a line for each; with TRAINER_REQUIRE_ALL, which continuous
// integration sets, it is a failure. So is a filter that no test fits.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/agent_environment.h"

namespace {

/// The reason of a test that was skipped, on one line; empty for others.
std::string skip_reason(const testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (!part.skipped()) continue;
    std::string reason = part.message();
    // GoogleTest puts a word of its own before the text.
    if (reason.starts_with("Skipped\n")) reason.erase(0, reason.find('\n') + 1);
    for (char& c : reason) c = c == '\n' || c == '\t' ? ' ' : c;
    while (!reason.empty() && reason.back() == ' ') reason.pop_back();
    return reason;
  }
  return "";
}

class SkippedTests : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Skipped()) return;
    const std::string reason = skip_reason(*test.result());
    if (const char* file = std::getenv("TRAINER_SKIPPED_TESTS")) {
      // Whole, in one write: other processes append too.
      std::ofstream(file, std::ios::app)
          << reason + '\t' + test.test_suite_name() + '.' + test.name() + '\n';
    }
    if (std::getenv("TRAINER_REQUIRE_ALL") != nullptr) {
      ADD_FAILURE() << "skipped, and TRAINER_REQUIRE_ALL is set: " << reason;
    }
  }
};

/// Shells have what runs in the background ignore signals, and so does nohup, which the program
/// respects: it saves at its start which are ignored. So it must start again.
void start_without_ignored_signals(char** argv) {
  bool is_any_ignored = false;
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) is_any_ignored = true;
  }
  if (is_any_ignored) execv(argv[0], argv);
}

}  // namespace

int main(int argc, char** argv) {
  start_without_ignored_signals(argv);
  trainer::test::leave_agent();
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new SkippedTests);
  const int status = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() > 0) return status;
  std::fputs("no test fits --gtest_filter\n", stderr);
  return 1;
}
