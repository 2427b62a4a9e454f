// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/atomic_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/child.h"
#include "support/error_of.h"
#include "support/file_size_limit.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::file_names;
using test::read_file;
using test::TemporaryFolder;

TEST(AtomicFileTest, AppearsWithItsWholeContentOnCommit) {
  const TemporaryFolder folder;
  AtomicFile file(folder.path() / "a.txt");
  file.write("first ");
  file.write("second");
  EXPECT_FALSE(fs::exists(folder.path() / "a.txt"));
  file.commit();
  EXPECT_EQ(read_file(folder.path() / "a.txt"), "first second");
  EXPECT_EQ(file_names(folder.path()), std::vector<std::string>{"a.txt"});
}

TEST(AtomicFileTest, RenamedDurablyAFolderHasItsNewNameOnly) {
  const TemporaryFolder folder;
  folder.write("a/inner/file", "text");
  fs::create_directory(folder.path() / "b");
  EXPECT_FALSE(rename_durably(folder.path() / "a/inner", folder.path() / "b/other"));
  EXPECT_EQ(read_file(folder.path() / "b/other/file"), "text");
  EXPECT_TRUE(file_names(folder.path() / "a").empty());
  EXPECT_EQ(rename_durably(folder.path() / "a/inner", folder.path() / "c"),
            std::errc::no_such_file_or_directory);
}

TEST(AtomicFileTest, KeepsTheOldFileUntilCommit) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("a.txt", "old");
  AtomicFile file(path);
  file.write("new");
  EXPECT_EQ(read_file(path), "old");
  file.commit();
  EXPECT_EQ(read_file(path), "new");
}

TEST(AtomicFileTest, WhatWasFlushedCanBeReadAndContinued) {
  const TemporaryFolder folder;
  AtomicFile file(folder.path() / "a.txt");
  file.write("first ");
  EXPECT_EQ(read_file(file.flushed()), "first ");
  const std::string more(1 << 20, 'x');
  file.write(more);
  EXPECT_EQ(read_file(file.flushed()), "first " + more);
  file.commit();
  EXPECT_EQ(read_file(folder.path() / "a.txt"), "first " + more);
}

TEST(AtomicFileTest, LeavesNothingBehindWithoutCommit) {
  const TemporaryFolder folder;
  { AtomicFile(folder.path() / "a.txt").write("text"); }
  EXPECT_TRUE(file_names(folder.path()).empty());
}

TEST(AtomicFileTest, HasAHiddenTemporaryNameThatTellsWhoseItIs) {
  const TemporaryFolder folder;
  const AtomicFile file(folder.path() / "a.txt");
  EXPECT_EQ(file_names(folder.path()),
            std::vector<std::string>{fmt::format(".a.txt.tmp-{}", ::getpid())});
}

TEST(AtomicFileTest, TakesAnotherNameBesideALeftoverOfTheSameProcessId) {
  const TemporaryFolder folder;
  const fs::path leftover = folder.write(fmt::format(".a.txt.tmp-{}", ::getpid()), "leftover");
  write_file_atomically(folder.path() / "a.txt", "text");
  EXPECT_EQ(read_file(folder.path() / "a.txt"), "text");
  EXPECT_EQ(read_file(leftover), "leftover");
}

TEST(AtomicFileTest, AllowsWhatTheUserMaskAllows) {
  const TemporaryFolder folder;
  const mode_t old_mask = ::umask(027);
  write_file_atomically(folder.path() / "a.txt", "text");
  ::umask(old_mask);
  EXPECT_EQ(fs::status(folder.path() / "a.txt").permissions(), fs::perms(0640));
}

TEST(AtomicFileTest, SaysWhichFolderIsMissing) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "none" / "a.txt";
  const Error error = error_of([&] { AtomicFile file(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), fmt::format("cannot write {}: No such file or directory", path.string()));
}

TEST(AtomicFileTest, RefusesToReplaceAFolder) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  fs::create_directory(path);
  const Error error = error_of([&] { write_file_atomically(path, "text"); });
  EXPECT_EQ(error.what(), fmt::format("cannot write {}: Is a directory", path.string()));
  EXPECT_EQ(file_names(folder.path()), std::vector<std::string>{"a"});
}

TEST(AtomicFileTest, ReportsAWriteThatDoesNotFitAndKeepsTheOldFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("a.txt", "old");
  const Error error = error_of([&] {
    const test::FileSizeLimit limit(1000);
    write_file_atomically(path, std::string(5000, 'x'));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), fmt::format("cannot write {}: File too large", path.string()));
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(file_names(folder.path()), std::vector<std::string>{"a.txt"});
}

TEST(AtomicFileTest, WritesIntoTheWorkingFolderWhenThePathHasNoFolder) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomically("a.txt", "text");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder.path() / "a.txt"), "text");
}

TEST(ReplaceSymlinkTest, CreatesAndReplacesALink) {
  const TemporaryFolder folder;
  const fs::path link = folder.path() / "latest";
  replace_symlink(link, "first");
  EXPECT_EQ(fs::read_symlink(link), "first");
  replace_symlink(link, "second");
  EXPECT_EQ(fs::read_symlink(link), "second");
  EXPECT_EQ(file_names(folder.path()), std::vector<std::string>{"latest"});
}

TEST(ReplaceSymlinkTest, DoesNotReplaceAFolder) {
  const TemporaryFolder folder;
  const fs::path link = folder.path() / "latest";
  fs::create_directory(link);
  const Error error = error_of([&] { replace_symlink(link, "first"); });
  EXPECT_EQ(error.what(), fmt::format("cannot write {}: Is a directory", link.string()));
  EXPECT_EQ(file_names(folder.path()), std::vector<std::string>{"latest"});
}

TEST(PublishFileTest, GivesAFileAFurtherName) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("a", "new");
  const fs::path name = folder.write("b", "old");
  publish_file(file, name);
  EXPECT_EQ(read_file(name), "new");
  EXPECT_EQ(fs::hard_link_count(file), 2U);
  publish_file(file, name);  // once more: nothing to do
  EXPECT_EQ(fs::hard_link_count(file), 2U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
}

TEST(PublishFileTest, CopiesToAnotherFileSystem) {
  const fs::path shared_memory = "/dev/shm";
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("a", std::string(3'000'000, 'x') + "end");
  struct stat here {};
  struct stat there {};
  if (stat(shared_memory.c_str(), &there) != 0 || stat(file.c_str(), &here) != 0 ||
      here.st_dev == there.st_dev || access(shared_memory.c_str(), W_OK) != 0) {
    GTEST_SKIP() << "there is no other file system to write to";
  }
  const fs::path name = shared_memory / folder.path().filename();
  publish_file(file, name);
  const std::string copied = read_file(name);
  fs::remove(name);
  EXPECT_EQ(copied, read_file(file));
}

TEST(PublishFileTest, SaysThatTheFileIsMissing) {
  const test::TemporaryFolder folder;
  const Error error =
      test::error_of([&] { publish_file(folder.path() / "none", folder.path() / "name"); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(RemoveTemporaryFilesTest, TakesWhatAKilledProcessLeftAndNothingElse) {
  const test::TemporaryFolder folder;
  for (const char* name : {".best.pt.tmp-4711", ".last.pt.tmp-1-2", ".hidden", "a.tmp-1", "b"}) {
    folder.write(name, "");
  }
  remove_temporary_files(folder.path());
  EXPECT_EQ(file_names(folder.path()), (std::vector<std::string>{".hidden", "a.tmp-1", "b"}));
  remove_temporary_files(folder.path() / "absent");
}

TEST(CrashPointDeathTest, EndsTheProcessAtTheMomentThatWasAskedFor) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("a", "old");
  // Opened, written, synced, not yet renamed: the old file is whole.
  EXPECT_EXIT(
      {
        setenv("TRAINER_CRASH_AT", "3", 1);
        write_file_atomically(file, "new");
        _exit(0);
      },
      testing::KilledBySignal(SIGKILL), "");
  EXPECT_EQ(read_file(file), "old");
}

TEST(CrashPointDeathTest, StopsTheProcessAtEachMomentUntilItIsLetGoOn) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("a", "old");
  test::Child child([&] {
    setenv("TRAINER_STOP_AT_EACH", "1", 1);
    write_file_atomically(file, "new");
    return 3;
  });
  // Opened; written; synced; renamed.
  for (const char* text : {"old", "old", "old", "new"}) {
    ASSERT_TRUE(child.wait_for_stop());
    EXPECT_EQ(read_file(file), text);
  }
  EXPECT_FALSE(child.wait_for_stop());
  EXPECT_EQ(child.wait(), 3);
}

}  // namespace
}  // namespace trainer
