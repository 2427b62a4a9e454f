// SPDX-License-Identifier: Apache-2.0

#include "workflows/experiments/run_series.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/config/dump.h"

#include "support/child.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

TEST(RunSeriesTest, TheNewestFolderOfATagIsFound) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(find_run(folder.path(), "fold_1"), std::nullopt);
  for (const char* name : {"20260101_000000_fold_1", "20260102_000000_fold_1",
                           "20260103_000000_fold_11", "20260103_000000_fold_2"}) {
    fs::create_directory(folder.path() / name);
  }
  EXPECT_EQ(find_run(folder.path(), "fold_1"), folder.path() / "20260102_000000_fold_1");
  EXPECT_EQ(find_run(folder.path() / "absent", "fold_1"), std::nullopt);
}

// The batch size follows from the data, which nobody has read yet.
TEST(RunSeriesTest, ACompleteRunOfARecipeIsNotTrainedAgain) {
  const test::TemporaryFolder folder;
  const SeriesRequest request{.config_files = {},
                              .overrides = {{"output_dir", folder.path().string(), "--output-dir"},
                                            {"recipe", "realmlp", "--recipe"}},
                              .resume = {}};
  RunSeries series = new_series(request);
  open_series(
      request, "series", [] { return false; }, series);
  const SeriesRun run{.tag = "member_1", .overrides = {{"training.seed", "7", "test"}}};
  EXPECT_EQ(find_complete(series, run), std::nullopt);
  const RunOutcome outcome = complete_run(series, run, 0, [&](const RunJob& job) {
    config::Loaded config = job.config;
    EXPECT_EQ(config.config.training.seed, 7);
    config.config.training.batch_size = 64;
    config.config.pending.clear();
    const fs::path run_dir = series.folder / "20260101_000000_member_1";
    fs::create_directories(run_dir);
    folder.write((run_dir / "config_resolved.yaml").string(), config::dump(config));
    return RunOutcome{run_dir, 0};
  });
  EXPECT_EQ(find_complete(series, run), std::nullopt);
  folder.write((outcome.run_dir / "summary.json").string(), "{}");
  EXPECT_EQ(find_complete(series, run), outcome.run_dir);
  const SeriesRun other{.tag = "member_1", .overrides = {{"training.seed", "8", "test"}}};
  EXPECT_EQ(find_complete(series, other), std::nullopt);
}

namespace fs = std::filesystem;

TEST(RunLockTest, OneHasItUntilItEnds) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / ".fold_1.lock";
  auto lock = RunLock::try_take(file);
  ASSERT_NE(lock, nullptr);
  EXPECT_TRUE(fs::exists(file));
  EXPECT_EQ(RunLock::try_take(file), nullptr);
  lock.reset();
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_NE(RunLock::try_take(file), nullptr);
}

TEST(RunLockTest, AProcessThatIsKilledLetsGo) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / ".fold_1.lock";
  test::Child child([&] {
    const auto lock = RunLock::try_take(file);
    raise(SIGSTOP);
    return 0;
  });
  ASSERT_TRUE(child.wait_for_stop());
  EXPECT_EQ(RunLock::try_take(file), nullptr);
  child.send(SIGKILL);
  child.wait();
  EXPECT_TRUE(fs::exists(file));
  EXPECT_NE(RunLock::try_take(file), nullptr);
  EXPECT_FALSE(fs::exists(file));
}

// The file that one removes may be open in another, which must not take it for a lock.
TEST(RunLockTest, TwoNeverHaveIt) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / ".fold_1.lock";
  std::atomic<int> num_holders{0};
  std::atomic<bool> is_wrong{false};
  const auto take_often = [&] {
    constexpr int kTimes = 2000;
    for (int i = 0; i < kTimes; ++i) {
      const auto lock = RunLock::try_take(file);
      if (lock == nullptr) continue;
      if (num_holders.fetch_add(1) != 0) is_wrong = true;
      std::this_thread::yield();
      num_holders.fetch_sub(1);
    }
  };
  auto second = std::async(std::launch::async, take_often);
  auto third = std::async(std::launch::async, take_often);
  take_often();
  second.get();
  third.get();
  EXPECT_FALSE(is_wrong);
}

TEST(RunLockTest, AFileThatCannotBeMadeIsNamed) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "none" / ".fold_1.lock";
  EXPECT_EQ(test::message_of(ErrorKind::kFileSystem, [&] { RunLock::try_take(file); }),
            "cannot write " + file.string() + ": No such file or directory");
}

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
