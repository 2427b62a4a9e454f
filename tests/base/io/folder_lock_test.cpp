// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/folder_lock.h"

#include <atomic>
#include <filesystem>
#include <future>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer {
namespace {

TEST(FolderLockTest, KeepsOthersOutUntilItEnds) {
  const test::TemporaryFolder folder;
  {
    const FolderLock lock(folder.path());
    const Error error = test::error_of([&] { const FolderLock second(folder.path()); });
    EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
    EXPECT_EQ(error.what(),
              folder.path().string() +
                  ": another process is using this folder; wait until it has finished");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
  EXPECT_NO_THROW(FolderLock(folder.path()));
}

TEST(FolderLockTest, CanBeWaitedFor) {
  const test::TemporaryFolder folder;
  std::atomic<bool> is_over{false};
  std::optional<FolderLock> lock(std::in_place, folder.path());
  auto second = std::async(std::launch::async, [&] {
    const FolderLock waited(folder.path(), FolderLock::WhenTaken::kWait);
    return is_over.load();
  });
  is_over = true;
  lock.reset();
  EXPECT_TRUE(second.get());
}

TEST(FolderLockTest, OthersSeeWhetherItIsHeld) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(is_locked(folder.path()));
  {
    const FolderLock lock(folder.path());
    EXPECT_TRUE(is_locked(folder.path()));
  }
  EXPECT_FALSE(is_locked(folder.path()));
  EXPECT_FALSE(is_locked(folder.path() / "none"));
}

// Whoever looks holds the lock for a moment.
TEST(FolderLockTest, LookingKeepsNobodyOut) {
  const test::TemporaryFolder folder;
  std::atomic<bool> is_over{false};
  auto looking = std::async(std::launch::async, [&] {
    while (!is_over) is_locked(folder.path());
  });
  for (int i = 0; i < 200; ++i) EXPECT_NO_THROW(FolderLock(folder.path()));
  is_over = true;
  looking.get();
}

TEST(FolderLockTest, AFolderThatIsNotThereIsAnError) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(test::error_of([&] { const FolderLock lock(folder.path() / "none"); }).kind(),
            ErrorKind::kFileSystem);
}

}  // namespace
}  // namespace trainer
