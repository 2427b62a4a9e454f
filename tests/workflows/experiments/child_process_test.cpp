// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/child_process.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::experiments {
namespace {

class ChildProcessTest : public testing::Test {
 protected:
  std::filesystem::path output() const { return folder_.path() / "output"; }

  /// A pipe that a child can wait for: nobody writes to it.
  std::string pipe() const {
    const std::string path = (folder_.path() / "pipe").string();
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  /// Waits until the only child of this process has ended, which it still has to find out itself.
  static void wait_for_child() {
    siginfo_t ended{};
    EXPECT_EQ(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
  }

  test::TemporaryFolder folder_;
};

TEST_F(ChildProcessTest, ItsExitCodeAndOutputAreKnown) {
  ChildProcess child("/bin/sh", {"-c", "echo \"$0 $1\"; echo err >&2; exit 3", "a b", "c"},
                     output());
  wait_for_child();
  EXPECT_EQ(child.exit_code(), 3);
  EXPECT_EQ(child.exit_code(), 3);
  EXPECT_EQ(child.kill(), 3);
  EXPECT_EQ(test::read_file(output()), "a b c\nerr\n");
}

TEST_F(ChildProcessTest, AKilledChildHasTheCodeOfTheSignal) {
  ChildProcess child("/bin/cat", {pipe()}, output());
  EXPECT_EQ(child.exit_code(), std::nullopt);
  EXPECT_EQ(child.kill(), 128 + SIGKILL);
  EXPECT_EQ(child.exit_code(), 128 + SIGKILL);
}

TEST_F(ChildProcessTest, NoChildOutlivesItsScope) {
  const std::string name = pipe();
  int id = 0;
  {
    const ChildProcess child("/bin/sh", {"-c", "echo $$ >\"$0\"; exec cat \"$0\"", name}, output());
    std::ifstream(name) >> id;
  }
  EXPECT_GT(id, 0);
  EXPECT_NE(kill(id, 0), 0);
}

TEST_F(ChildProcessTest, AProgramThatIsMissingIsAnError) {
  const Error error = test::error_of([&] { ChildProcess("/nowhere/program", {}, output()); });
  EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
  EXPECT_STREQ(error.what(), "cannot start /nowhere/program: No such file or directory");
}

}  // namespace
}  // namespace trainer::experiments
