// SPDX-License-Identifier: Apache-2.0

#include "trainer/run/checkpoint/resume_point.h"

#include <chrono>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/config/dump.h"
#include "trainer/config/load.h"
#include "trainer/run/checkpoint/store.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/quiet_log.h"
#include "support/temporary_folder.h"

namespace trainer::checkpoint {
namespace {

namespace fs = std::filesystem;
using test::error_of;

config::Loaded config_of(const std::string& yaml) { return config::load({{"test", yaml, ""}}, {}); }

class ResumePointTest : public testing::Test {
 protected:
  // A run folder with checkpoints of two epochs, the second of which is last.pt.
  fs::path make_run(const std::string& name, const std::string& yaml) const {
    const fs::path run = folder_.path() / name;
    const std::string resolved = config::dump(config_of(yaml));
    folder_.write(name + "/config_resolved.yaml", resolved);
    fs::create_directory(run / "checkpoints");
    const Store store(run / "checkpoints", 3);
    for (const int64_t epoch : {1, 2}) {
      Checkpoint checkpoint = test::full_checkpoint();
      checkpoint.state.position = {.epoch = epoch, .step = 10 * epoch, .samples_in_epoch = 0};
      checkpoint.config = resolved;
      store.save(checkpoint, SaveReason::kEpoch,
                 epoch == 1 ? Store::IsBest::kYes : Store::IsBest::kNo);
    }
    return run;
  }

  static void damage(const fs::path& file) { fs::resize_file(file, fs::file_size(file) - 1); }

  // Makes the run older than those that are made now.
  static void age(const fs::path& run) {
    const fs::path last = run / "checkpoints/last.pt";
    fs::last_write_time(last, fs::last_write_time(last) - std::chrono::hours(1));
  }

  std::string found(const std::string& yaml) const {
    const auto point = find_same_run(folder_.path(), config_of(yaml).config, OpenMode::kReadOnly);
    return point ? fs::relative(point->file, folder_.path()).string() : "none";
  }

  test::QuietLog quiet_;
  test::TemporaryFolder folder_;
};

TEST_F(ResumePointTest, ARunFolderMeansItsNewestCheckpoint) {
  const fs::path run = make_run("a", "seed: 1");
  for (const fs::path& given : {run, run / "checkpoints"}) {
    const ResumePoint point = open_checkpoint(given, OpenMode::kReadOnly);
    EXPECT_EQ(point.file, run / "checkpoints/last.pt");
    EXPECT_EQ(point.checkpoint.state.position.epoch, 2);
  }
}

TEST_F(ResumePointTest, DamagedOnesArePassedOverWhereAFolderIsGiven) {
  const fs::path run = make_run("a", "seed: 1");
  damage(run / "checkpoints/last.pt");  // shares its bytes with that of epoch 2
  const ResumePoint point = open_checkpoint(run, OpenMode::kReadOnly);
  EXPECT_EQ(point.file, run / "checkpoints/checkpoint_epoch_001.pt");
  EXPECT_EQ(point.checkpoint.state.position.epoch, 1);
}

TEST_F(ResumePointTest, ADamagedFileThatIsGivenIsRefused) {
  const fs::path run = make_run("a", "seed: 1");
  damage(run / "checkpoints/last.pt");
  EXPECT_EQ(error_of([&] { open_checkpoint(run / "last.pt", OpenMode::kReadOnly); }).kind(),
            ErrorKind::kCheckpoint);
}

TEST_F(ResumePointTest, AFolderWithDamagedOnesOnlyNamesThemAll) {
  const fs::path run = make_run("a", "seed: 1");
  for (const fs::path& file : newest_first(run / "checkpoints")) folder_.write(file.string(), "x");
  const Error error = error_of([&] { open_checkpoint(run, OpenMode::kReadOnly); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  const std::string folder = (run / "checkpoints/").string();
  const std::string problem =
      ": expected a zip file as written by torch.save, got a file that starts with \"x\"";
  EXPECT_EQ(error.what(), "no checkpoint of this run is readable:\n  " + folder + "last.pt" +
                              problem + "\n  " + folder + "checkpoint_epoch_002.pt" + problem +
                              "\n  " + folder + "checkpoint_epoch_001.pt" + problem + "\n  " +
                              folder + "best.pt" + problem);
}

TEST_F(ResumePointTest, ARunIsLockedWhileItIsContinued) {
  const fs::path run = make_run("a", "seed: 1");
  const ResumePoint point = open_checkpoint(run, OpenMode::kResume);
  EXPECT_EQ(error_of([&] { open_checkpoint(run, OpenMode::kResume); }).what(),
            run.string() + ": another process is using this folder; wait until it has finished");
  EXPECT_NO_THROW(open_checkpoint(run, OpenMode::kReadOnly));
}

TEST_F(ResumePointTest, TheNewestRunOfTheSameConfigurationIsFound) {
  age(make_run("b", "seed: 1"));
  make_run("a", "seed: 1");
  make_run("c", "seed: 2");
  EXPECT_EQ(found("seed: 1"), "a/checkpoints/last.pt");
  EXPECT_EQ(found("seed: 2"), "c/checkpoints/last.pt");
  EXPECT_EQ(found("seed: 3"), "none");
}

TEST_F(ResumePointTest, KeysThatMayChangeMakeNoOtherRun) {
  make_run("a", "seed: 1");
  EXPECT_EQ(found("{seed: 1, training: {epochs: 77}}"), "a/checkpoints/last.pt");
}

TEST_F(ResumePointTest, ATagTellsRunsApart) {
  make_run("a", "{seed: 1, tag: first}");
  EXPECT_EQ(found("{seed: 1, tag: first}"), "a/checkpoints/last.pt");
  EXPECT_EQ(found("{seed: 1, tag: second}"), "none");
}

TEST_F(ResumePointTest, OtherInitialWeightsMakeAnotherRun) {
  make_run("a", "{seed: 1, model: {init_from: /w.pt}}");
  EXPECT_EQ(found("{seed: 1, model: {init_from: /w.pt}}"), "a/checkpoints/last.pt");
  EXPECT_EQ(found("{seed: 1, model: {init_from: /v.pt}}"), "none");
  EXPECT_EQ(found("seed: 1"), "none");
}

TEST_F(ResumePointTest, ARunAtWorkIsFoundBeforeItsFirstCheckpoint) {
  const config::Config config = config::load({{"c", "seed: 1", "/"}}, {}).config;
  folder_.write("begun/config_resolved.yaml", "seed: 1");
  folder_.write("other/config_resolved.yaml", "seed: 2");
  EXPECT_EQ(find_same_run_at_work(folder_.path(), config), fs::path());
  const FolderLock other(folder_.path() / "other");
  EXPECT_EQ(find_same_run_at_work(folder_.path(), config), fs::path());
  const FolderLock lock(folder_.path() / "begun");
  EXPECT_EQ(find_same_run_at_work(folder_.path(), config), folder_.path() / "begun");
}

TEST_F(ResumePointTest, AnOlderRunIsTakenWhereTheNewestHasNoGoodCheckpoint) {
  age(make_run("a", "seed: 1"));
  const fs::path newest = make_run("b", "seed: 1");
  for (const fs::path& file : newest_first(newest / "checkpoints"))
    folder_.write(file.string(), "x");
  EXPECT_EQ(found("seed: 1"), "a/checkpoints/last.pt");
}

TEST_F(ResumePointTest, FoldersThatAreNoRunsArePassedOver) {
  folder_.write("notes/readme.txt", "");
  folder_.write("empty/config_resolved.yaml", "seed: 1");
  folder_.write("old/config_resolved.yaml", "no_such_key: 1");
  folder_.write("old/checkpoints/last.pt", "x");
  folder_.write("file", "");
  EXPECT_EQ(found("seed: 1"), "none");
  EXPECT_FALSE(find_same_run(folder_.path() / "absent", {}, OpenMode::kReadOnly).has_value());
}

namespace fs = std::filesystem;

TEST(FindCheckpointTest, TakesAFileARunFolderOrTheShortForm) {
  const test::TemporaryFolder folder;
  const fs::path best = folder.write("run/checkpoints/best.pt", "");
  const fs::path last = folder.write("run/checkpoints/last.pt", "");
  EXPECT_EQ(find_checkpoint(best), best);
  EXPECT_EQ(find_checkpoint(folder.path() / "run"), last);
  EXPECT_EQ(find_checkpoint(folder.path() / "run/checkpoints"), last);
  EXPECT_EQ(find_checkpoint(folder.path() / "run/best.pt"), best);
}

TEST(FindCheckpointTest, AnUnknownOneIsAnErrorThatListsWhatThereIs) {
  const test::TemporaryFolder folder;
  folder.write("run/checkpoints/last.pt", "");
  folder.write("run/checkpoints/best.pt", "");
  const fs::path wrong = folder.path() / "run" / "worst.pt";
  const Error error = test::error_of([&] { find_checkpoint(wrong); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  EXPECT_EQ(error.what(), wrong.string() + ": no such checkpoint; " +
                              (folder.path() / "run/checkpoints").string() +
                              " has best.pt and last.pt");
}

TEST(FindCheckpointTest, AFolderOfRunsNamesTheNewest) {
  const test::TemporaryFolder folder;
  for (const char* name : {"a", "b", "c", "d"}) {
    folder.write("runs/" + std::string(name) + "/config_resolved.yaml", "");
  }
  folder.write("runs/notes/x", "");
  fs::create_symlink("gone", folder.path() / "runs/latest");
  const std::string runs = (folder.path() / "runs").string();
  const std::string list = "specify a run: " + runs + "/d, " + runs + "/c or " + runs + "/b";
  EXPECT_EQ(test::error_of([&] { find_checkpoint(runs); }).what(),
            runs + ": no such checkpoint; " + list);
  EXPECT_EQ(test::error_of([&] { find_checkpoint(runs + "/latest"); }).what(),
            runs + "/latest: no such checkpoint; " + list);
}

TEST(FindCheckpointTest, AnEmptyRunFolderIsAnError) {
  const test::TemporaryFolder folder;
  const Error error = test::error_of([&] { find_checkpoint(folder.path()); });
  EXPECT_EQ(error.what(), folder.path().string() + ": no such checkpoint; there are no " +
                              "checkpoints in " + folder.path().string());
  const Error nowhere = test::error_of([] { find_checkpoint("nothing.pt"); });
  EXPECT_STREQ(nowhere.what(), "nothing.pt: no such checkpoint; there are no checkpoints in .");
}

}  // namespace

}  // namespace trainer::checkpoint
