// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/run_lock.h"

#include <signal.h>

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/child.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::experiments {
namespace {

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

}  // namespace
}  // namespace trainer::experiments
