// SPDX-License-Identifier: Apache-2.0

#include "trainer/run/tracking/trash.h"

#include <chrono>

#include <gtest/gtest.h>

#include "trainer/base/io/folder_lock.h"

#include "support/error_of.h"
#include "support/run_folders.h"

namespace trainer::tracking {
namespace {

namespace fs = std::filesystem;
using test::write_run;

TEST(TrashTest, LatestPointsToTheNewestThatIsLeft) {
  const test::TemporaryFolder runs;
  write_run(runs, "a");
  const fs::path folder = write_run(runs, "b");
  fs::create_directory_symlink("b", runs.path() / "latest");
  EXPECT_EQ(remove_run(folder), runs.path() / ".trash/b");
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_EQ(fs::read_symlink(runs.path() / "latest"), "a");
  remove_run(runs.path() / "a");
  EXPECT_FALSE(fs::is_symlink(runs.path() / "latest"));
  EXPECT_EQ(read_entries(runs.path()).size(), 0U);
  EXPECT_EQ(removed_entries(runs.path()).size(), 2U);
}

TEST(TrashTest, RestoredRunsAreAsBefore) {
  const test::TemporaryFolder runs;
  write_run(runs, "a");
  const fs::path folder = write_run(runs, "b");
  fs::create_directory_symlink("b", runs.path() / "latest");
  EXPECT_EQ(restore_run(remove_run(folder)), folder);
  EXPECT_TRUE(fs::exists(folder / "metrics.jsonl"));
  EXPECT_EQ(fs::read_symlink(runs.path() / "latest"), "b");
  EXPECT_FALSE(fs::exists(runs.path() / ".trash"));
}

TEST(TrashTest, NothingIsOverwritten) {
  const test::TemporaryFolder runs;
  const fs::path first = remove_run(write_run(runs, "a", {.val_loss = 0.25}));
  const fs::path second = remove_run(write_run(runs, "a"));
  EXPECT_EQ(second, runs.path() / ".trash/a_2");
  write_run(runs, "a");
  const Error error = test::error_of([&] { restore_run(first); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), "cannot restore " + first.string() + ": there is already " +
                              (runs.path() / "a").string() + "; rename or remove that first");
  EXPECT_EQ(restore_run(second), runs.path() / "a_2");
  EXPECT_EQ(read_entry(first)->best, 0.25);
}

TEST(TrashTest, ARunAtWorkStaysWhereItIs) {
  const test::TemporaryFolder runs;
  const fs::path folder = write_run(runs, "a");
  const FolderLock lock(folder);
  EXPECT_EQ(test::error_of([&] { remove_run(folder); }).kind(), ErrorKind::kFileSystem);
  EXPECT_TRUE(fs::exists(folder / "metrics.jsonl"));
}

TEST(TrashTest, TheNextCallFinishesWhatWasInterrupted) {
  const test::TemporaryFolder runs;
  const fs::path kept = write_run(runs, "a");
  const fs::path folder = write_run(runs, "b");
  write_run(runs, ".removed_c");
  write_run(runs, ".trash/.purged_d");
  fs::create_directory_symlink("c", runs.path() / "latest");
  purge_run(remove_run(folder));
  EXPECT_EQ(fs::read_symlink(runs.path() / "latest"), "a");
  for (const char* name : {".removed_c", ".trash"}) EXPECT_FALSE(fs::exists(runs.path() / name));
  write_run(runs, ".trash/.purged_d");
  finish_removals(runs.path());
  EXPECT_FALSE(fs::exists(runs.path() / ".trash"));
  EXPECT_TRUE(fs::exists(kept));
}

TEST(TrashTest, WhatAPowerFailureLeftOfItsListGoesWithTheTrash) {
  const test::TemporaryFolder runs;
  const fs::path removed = remove_run(write_run(runs, "a"));
  runs.write(".trash/..runs.json.tmp-4711", "{");
  restore_run(removed);
  EXPECT_FALSE(fs::exists(runs.path() / ".trash"));
}

TEST(TrashTest, ATrashThatLeadsElsewhereIsRefused) {
  const test::TemporaryFolder runs;
  const fs::path folder = write_run(runs, "a");
  const fs::path other = write_run(runs, "elsewhere/b");
  fs::create_directory_symlink("elsewhere", runs.path() / ".trash");
  const fs::path trash = runs.path() / ".trash";
  const std::string refused = trash.string() +
                              ": expected a folder, got a link, which may lead anywhere; remove "
                              "the link";
  EXPECT_EQ(test::error_of([&] { remove_run(folder); }).what(), refused);
  EXPECT_EQ(test::error_of([&] { purge_run(trash / "b"); }).what(), refused);
  EXPECT_EQ(test::error_of([&] { restore_run(trash / "b"); }).what(), refused);
  finish_removals(runs.path());
  EXPECT_TRUE(fs::exists(folder) && fs::exists(other));
  EXPECT_EQ(removed_entries(runs.path()).size(), 0U);
}

namespace fs = std::filesystem;
using test::write_run;

std::string names_left(const std::vector<RunEntry>& entries) {
  std::string names;
  for (const RunEntry& entry : entries) names += entry.name;
  return names;
}

TEST(RemovalTest, KeepsTheBestAndThoseAtWork) {
  const test::TemporaryFolder runs;
  write_run(runs, "a", {.val_loss = 0.5});
  write_run(runs, "b", {.val_loss = 0.25});
  const FolderLock lock(write_run(runs, "c", {.val_loss = 0.75}));
  write_run(runs, "d", {.val_loss = 0.9});
  const std::vector<RunEntry> entries = read_entries(runs.path());
  EXPECT_EQ(names_left(removable(entries, {.keep_best = 1})), "da");
  EXPECT_EQ(names_left(removable(entries, {.keep_best = 0})), "dba");
  EXPECT_EQ(names_left(removable(entries, {.keep_best = 9})), "");
  EXPECT_EQ(names_left(removable(entries, {.keep_best = 2, .sort = "-val.loss"})), "ba");
}

TEST(RemovalTest, TheBestAreNotKnownIfARunHasNoValue) {
  const test::TemporaryFolder runs;
  write_run(runs, "a", {.val_loss = 0.5});
  write_run(runs, "b", {.is_complete = false});
  runs.write("b/metrics.jsonl", "");
  const std::vector<RunEntry> entries = read_entries(runs.path());
  const Error error = test::error_of([&] { removable(entries, {.keep_best = 1}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(),
               "--keep-best: 1 run has no value of \"best\", so which are best is not known: b; "
               "name another metric with --sort, or leave runs out with --filter");
  EXPECT_EQ(names_left(removable(entries, {.keep_best = 0})), "ba");
}

TEST(RemovalTest, KeepsWhatHasChangedSince) {
  const test::TemporaryFolder runs;
  const fs::path folder = write_run(runs, "a");
  write_run(runs, "b");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(48);
  for (const char* name : {"metrics.jsonl", "system.json", ""}) {
    fs::last_write_time(folder / name, long_ago);
  }
  const std::vector<RunEntry> entries = read_entries(runs.path());
  EXPECT_EQ(names_left(removable(entries, {.older_than = 3600})), "a");
  EXPECT_EQ(names_left(removable(entries, {.older_than = 72 * 3600})), "");
}

TEST(RemovalTest, FilesWithTwoNamesCountOnce) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("a", std::string(1000, 'x'));
  fs::create_hard_link(file, folder.path() / "b");
  EXPECT_EQ(bytes_in(folder.path()), 1000U);
}

}  // namespace

}  // namespace trainer::tracking
