// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/removal.h"

#include <chrono>

#include <gtest/gtest.h>

#include "trainer/base/io/folder_lock.h"

#include "support/error_of.h"
#include "support/run_folders.h"

namespace trainer::tracking {
namespace {

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
