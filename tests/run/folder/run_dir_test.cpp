// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/run_dir.h"

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/unprivileged.h"

namespace trainer::run {
namespace {

namespace fs = std::filesystem;

// 2026-01-29 22:06:34 in local time, whatever the zone of the machine.
std::time_t some_time() {
  std::tm calendar{};
  calendar.tm_year = 126;
  calendar.tm_mon = 0;
  calendar.tm_mday = 29;
  calendar.tm_hour = 22;
  calendar.tm_min = 6;
  calendar.tm_sec = 34;
  calendar.tm_isdst = -1;
  return std::mktime(&calendar);
}

TEST(RunDirTest, TheNameIsTheTimeAndTheTag) {
  const test::TemporaryFolder folder;
  const fs::path parent = folder.path() / "a" / "runs";
  EXPECT_EQ(create_run_dir(parent, "exp1", some_time()).root, parent / "20260129_220634_exp1");
  EXPECT_EQ(create_run_dir(parent, "", some_time()).root, parent / "20260129_220634");
  EXPECT_TRUE(fs::is_directory(parent / "20260129_220634_exp1" / "checkpoints"));
}

TEST(RunDirTest, TwoRunsInOneSecondGetDifferentFolders) {
  const test::TemporaryFolder folder;
  const RunDir first = create_run_dir(folder.path(), "x", some_time());
  const RunDir second = create_run_dir(folder.path(), "x", some_time());
  const RunDir third = create_run_dir(folder.path(), "x", some_time());
  EXPECT_EQ(first.root.filename(), "20260129_220634_x");
  EXPECT_EQ(second.root.filename(), "20260129_220634_x_2");
  EXPECT_EQ(third.root.filename(), "20260129_220634_x_3");
}

TEST(NewFolderTest, IsSomebodysOwnAndGoesWithItsParentsWhereItStaysEmpty) {
  const test::TemporaryFolder folder;
  const fs::path parent = folder.path() / "a" / "b";
  {
    const NewFolder empty(parent, "x");
    EXPECT_EQ(empty.path(), parent / "x");
    EXPECT_EQ(NewFolder(parent, "x").path(), parent / "x_2");
    EXPECT_FALSE(fs::exists(parent / "x_2"));
  }
  EXPECT_FALSE(fs::exists(folder.path() / "a"));
  folder.write("a/b/x", "a file");
  {
    const NewFolder filled(parent, "x");
    EXPECT_EQ(filled.path(), parent / "x_2");
    folder.write("a/b/x_2/file", "");
  }
  EXPECT_TRUE(fs::exists(parent / "x_2" / "file"));
}

TEST(RunDirTest, ANameThatIsTooLongIsAnErrorAndLeavesNothingBehind) {
  const test::TemporaryFolder folder;
  const fs::path parent = folder.path() / "a" / std::string(300, 'b');
  const Error error = test::error_of([&] { create_run_dir(parent, "", some_time()); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), "cannot create the folder " + parent.string() +
                              ": File name too long; choose another one with --output-dir");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(RunDirTest, LatestIsReplacedWithoutTouchingOtherTemporaryFiles) {
  const test::TemporaryFolder folder;
  folder.write(".latest.tmp-4711", "");
  folder.write(".predictions.csv.tmp-4711", "");
  point_latest_to(create_run_dir(folder.path(), "a", some_time()));
  EXPECT_FALSE(fs::exists(folder.path() / ".latest.tmp-4711"));
  EXPECT_TRUE(fs::exists(folder.path() / ".predictions.csv.tmp-4711"));
}

TEST(RunDirTest, AFileInTheWayIsAnErrorAndLeavesNothingBehind) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("file", "x");
  const Error error = test::error_of([&] { create_run_dir(file / "runs", "", some_time()); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), "cannot create the folder " + (file / "runs").string() +
                              ": Not a directory; choose another one with --output-dir");
}

TEST(RunDirTest, AFolderThatMayNotBeWrittenIsAnErrorAndLeavesNothingBehind) {
  const test::Unprivileged user;
  const test::TemporaryFolder folder;
  const fs::path locked = folder.path() / "locked";
  fs::create_directory(locked);
  fs::permissions(locked, fs::perms::owner_read | fs::perms::owner_exec);
  const Error error = test::error_of([&] { create_run_dir(locked / "runs", "", some_time()); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), "cannot create the folder " + (locked / "runs").string() +
                              ": Permission denied; choose another one with --output-dir");
  EXPECT_TRUE(fs::is_empty(locked));
  fs::permissions(locked, fs::perms::owner_all);
}

TEST(RunDirTest, LatestPointsToTheNewestRun) {
  const test::TemporaryFolder folder;
  point_latest_to(create_run_dir(folder.path(), "a", some_time()));
  point_latest_to(create_run_dir(folder.path(), "b", some_time()));
  EXPECT_EQ(fs::read_symlink(folder.path() / "latest"), "20260129_220634_b");
}

TEST(RunDirOfTest, IsTheFolderAroundCheckpointsOnlyIfItIsARun) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("run/checkpoints/last.pt", "");
  EXPECT_EQ(find_run_dir(file), fs::path());
  folder.write("run/config_resolved.yaml", "");
  EXPECT_EQ(find_run_dir(file), folder.path() / "run");
  EXPECT_EQ(find_run_dir(folder.write("else/where.pt", "")), fs::path());
}

TEST(RunDirTest, RoomForTheCheckpointsIsLookedForBeforeTheFolderIsMade) {
  const test::TemporaryFolder folder;
  const fs::path runs = folder.path() / "not/yet/there";
  EXPECT_NO_THROW(check_free_space(runs, 1000, 5));
  const Error error = test::error_of([&] { check_free_space(runs, uint64_t{1} << 50, 5); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  const std::string message = error.what();
  EXPECT_TRUE(message.starts_with(
      runs.string() + ": not enough disk space: 5 checkpoints of 1.0 PiB need 5.0 PiB, "))
      << message;
  EXPECT_TRUE(
      message.ends_with(" are free; free some space, choose another folder with --output-dir, or "
                        "lower checkpoint.keep_last"))
      << message;
  EXPECT_FALSE(fs::exists(folder.path() / "not"));
}

}  // namespace
}  // namespace trainer::run
