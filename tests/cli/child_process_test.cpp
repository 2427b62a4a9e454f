// SPDX-License-Identifier: Apache-2.0
#include "cli/child_process.h"

#include <signal.h>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "trainer/core/error.h"

#include "support/error_of.h"
#include "support/process.h"
#include "support/temporary_folder.h"

namespace trainer::cli {
namespace {

class ChildProcessTest : public testing::Test {
 protected:
  std::filesystem::path output() const { return folder_.path() / "output"; }

  static int wait(ChildProcess& child) {
    while (!child.exit_code()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return *child.exit_code();
  }

  test::TemporaryFolder folder_;
};

TEST_F(ChildProcessTest, ItsExitCodeAndOutputAreKnown) {
  ChildProcess child("/bin/sh", {"-c", "echo \"$0 $1\"; echo err >&2; exit 3", "a b", "c"},
                     output());
  EXPECT_EQ(wait(child), 3);
  EXPECT_EQ(child.exit_code(), 3);
  EXPECT_EQ(child.kill(), 3);
  EXPECT_EQ(test::read_file(output()), "a b c\nerr\n");
}

TEST_F(ChildProcessTest, AKilledChildHasTheCodeOfTheSignal) {
  ChildProcess child("/bin/sleep", {"1000"}, output());
  EXPECT_EQ(child.exit_code(), std::nullopt);
  EXPECT_EQ(child.kill(), 128 + SIGKILL);
  EXPECT_EQ(child.exit_code(), 128 + SIGKILL);
}

TEST_F(ChildProcessTest, NoChildOutlivesItsScope) {
  {
    const ChildProcess child("/bin/sh", {"-c", "echo $$; exec sleep 1000"}, output());
    while (test::read_file(output()).empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_NE(kill(std::stoi(test::read_file(output())), 0), 0);
}

TEST_F(ChildProcessTest, AProgramThatIsMissingIsAnError) {
  const Error error = test::error_of([&] { ChildProcess("/nowhere/program", {}, output()); });
  EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
  EXPECT_STREQ(error.what(), "cannot start /nowhere/program: No such file or directory");
}

}  // namespace
}  // namespace trainer::cli
