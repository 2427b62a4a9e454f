// SPDX-License-Identifier: Apache-2.0

#include "trainer/run/checkpoint/store.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/run/folder/superseded.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/file_size_limit.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::checkpoint {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using IsBest = Store::IsBest;

Checkpoint of_epoch(int64_t epoch) {
  Checkpoint c = test::full_checkpoint();
  c.state.position = {.epoch = epoch, .step = 10 * epoch, .samples_in_epoch = 0};
  c.state.best.reset();
  return c;
}

// A checkpoint whose own epoch is the best, with the value that the tests look for.
Checkpoint of_best_epoch(int64_t epoch) {
  Checkpoint c = of_epoch(epoch);
  c.state.best = Best{.epoch = epoch, .value = 0.5};
  return c;
}

Checkpoint of_epoch_after_best(int64_t epoch, int64_t best) {
  Checkpoint c = of_epoch(epoch);
  c.state.best = Best{.epoch = best, .value = 0.5};
  return c;
}

Checkpoint within_epoch(int64_t epoch, int64_t step) {
  Checkpoint c = of_epoch(epoch);
  c.state.position.step = step;
  c.state.position.samples_in_epoch = 8;
  return c;
}

class StoreTest : public testing::Test {
 protected:
  Names files() const { return test::file_names(folder_.path()); }
  fs::path file(const std::string& name) const { return folder_.path() / name; }
  static int64_t epoch_in(const fs::path& path) { return read(path).state.position.epoch; }

  test::TemporaryFolder folder_;
};

TEST_F(StoreTest, AnEpochIsTheLastUntilTheNext) {
  const Store store(folder_.path(), 3);
  store.save(of_epoch(1), SaveReason::kEpoch, IsBest::kNo);
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_001.pt", "last.pt"}));
  store.save(of_epoch(2), SaveReason::kEpoch, IsBest::kNo);
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_001.pt", "checkpoint_epoch_002.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(store.last()), 2);
  EXPECT_EQ(epoch_in(file("checkpoint_epoch_001.pt")), 1);
}

TEST_F(StoreTest, NamesOfOneCheckpointShareItsBytes) {
  const Store store(folder_.path(), 3);
  store.save(of_epoch(1), SaveReason::kEpoch, IsBest::kYes);
  EXPECT_EQ(files(), (Names{"best.pt", "checkpoint_epoch_001.pt", "last.pt"}));
  EXPECT_TRUE(fs::equivalent(store.best(), store.last()));
  EXPECT_EQ(fs::hard_link_count(store.best()), 3U);
  store.save(of_epoch(2), SaveReason::kEpoch, IsBest::kNo);
  EXPECT_EQ(epoch_in(store.best()), 1);
  EXPECT_EQ(epoch_in(store.last()), 2);
}

TEST_F(StoreTest, TheBestMayBeSavedWithoutAnEpochFile) {
  const Store store(folder_.path(), 3);
  store.save(of_epoch(1), SaveReason::kEpoch, IsBest::kYes);
  store.save(of_epoch(2), SaveReason::kOther, IsBest::kYes);
  EXPECT_EQ(files(), (Names{"best.pt", "checkpoint_epoch_001.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(store.best()), 2);
  EXPECT_EQ(epoch_in(store.last()), 2);
  EXPECT_EQ(epoch_in(file("checkpoint_epoch_001.pt")), 1);
}

TEST_F(StoreTest, OlderEpochsAreRemovedButNotTheBest) {
  const Store store(folder_.path(), 2);
  for (int64_t epoch = 1; epoch <= 4; ++epoch) {
    store.save(of_epoch(epoch), SaveReason::kEpoch, epoch == 1 ? IsBest::kYes : IsBest::kNo);
  }
  EXPECT_EQ(files(),
            (Names{"best.pt", "checkpoint_epoch_003.pt", "checkpoint_epoch_004.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(store.best()), 1);
}

TEST_F(StoreTest, EpochsThatAResumeGaveUpAreRemoved) {
  const Store store(folder_.path(), 3);
  for (int64_t epoch = 1; epoch <= 5; ++epoch)
    store.save(of_epoch(epoch), SaveReason::kEpoch, IsBest::kNo);
  const Store resumed(folder_.path(), 3);
  resumed.save(of_epoch(4), SaveReason::kEpoch, IsBest::kNo);
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_003.pt", "checkpoint_epoch_004.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(resumed.last()), 4);
}

TEST_F(StoreTest, StepsAreKeptWithinTheirEpochOnly) {
  const Store store(folder_.path(), 2);
  store.save(of_epoch(1), SaveReason::kEpoch, IsBest::kNo);
  for (const int64_t step : {12, 14, 16}) {
    store.save(within_epoch(1, step), SaveReason::kStep, IsBest::kNo);
    EXPECT_EQ(read(store.last()).state.position.step, step);
  }
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_001.pt", "checkpoint_step_00000014.pt",
                            "checkpoint_step_00000016.pt", "last.pt"}));
  store.save(of_epoch(2), SaveReason::kEpoch, IsBest::kNo);
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_001.pt", "checkpoint_epoch_002.pt", "last.pt"}));
}

TEST_F(StoreTest, OtherOccasionsChangeTheLastAlone) {
  const Store store(folder_.path(), 1);
  store.save(of_epoch(1), SaveReason::kEpoch, IsBest::kNo);
  store.save(within_epoch(1, 12), SaveReason::kStep, IsBest::kNo);
  store.save(within_epoch(1, 13), SaveReason::kOther, IsBest::kNo);
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_001.pt", "checkpoint_step_00000012.pt", "last.pt"}));
  EXPECT_EQ(read(store.last()).state.position.step, 13);
  EXPECT_EQ(read(file("checkpoint_step_00000012.pt")).state.position.step, 12);
}

TEST_F(StoreTest, ARewindMakesTheFolderWhatItWas) {
  const Store store(folder_.path(), 5);
  store.save(of_best_epoch(1), SaveReason::kEpoch, IsBest::kYes);
  store.save(of_epoch_after_best(2, 1), SaveReason::kEpoch, IsBest::kNo);
  store.save(of_best_epoch(3), SaveReason::kEpoch, IsBest::kYes);
  store.save(within_epoch(3, 32), SaveReason::kStep, IsBest::kNo);
  const fs::path second = file("checkpoint_epoch_002.pt");
  EXPECT_TRUE(store.rewind(read(second), second));
  EXPECT_EQ(files(),
            (Names{"best.pt", "checkpoint_epoch_001.pt", "checkpoint_epoch_002.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(store.last()), 2);
  EXPECT_EQ(epoch_in(store.best()), 1);
}

TEST_F(StoreTest, ARewindToTheLastChangesNothing) {
  const Store store(folder_.path(), 5);
  store.save(of_best_epoch(1), SaveReason::kEpoch, IsBest::kYes);
  store.save(of_epoch_after_best(2, 1), SaveReason::kEpoch, IsBest::kNo);
  const Names before = files();
  EXPECT_TRUE(store.rewind(read(store.last()), store.last()));
  EXPECT_EQ(files(), before);
  EXPECT_EQ(epoch_in(store.last()), 2);
  EXPECT_EQ(epoch_in(store.best()), 1);
}

// The process was killed when the best epoch had become last.pt and not yet best.pt.
TEST_F(StoreTest, ARewindFindsTheBestInTheLast) {
  const Store store(folder_.path(), 5);
  store.save(of_best_epoch(1), SaveReason::kEpoch, IsBest::kYes);
  store.save(of_best_epoch(2), SaveReason::kEpoch, IsBest::kNo);
  EXPECT_TRUE(store.rewind(read(store.last()), store.last()));
  EXPECT_EQ(epoch_in(store.best()), 2);
}

TEST_F(StoreTest, ARewindToAFileElsewhereTakesItsBestOver) {
  const test::TemporaryFolder elsewhere;
  const fs::path resumed = elsewhere.path() / "copy.pt";
  write(resumed, of_best_epoch(1));
  fs::create_symlink("copy.pt", elsewhere.path() / "link.pt");
  const Store store(folder_.path(), 3);
  EXPECT_TRUE(store.rewind(read(resumed), elsewhere.path() / "link.pt"));
  EXPECT_EQ(files(), (Names{"best.pt"}));
  EXPECT_FALSE(fs::is_symlink(store.best()));
  EXPECT_EQ(epoch_in(store.best()), 1);
  EXPECT_EQ(epoch_in(resumed), 1);
}

TEST_F(StoreTest, ARewindLeavesTheBestAloneWhereItsEpochIsGone) {
  const Store store(folder_.path(), 5);
  store.save(of_epoch_after_best(2, 1), SaveReason::kEpoch, IsBest::kNo);
  store.save(of_best_epoch(3), SaveReason::kEpoch, IsBest::kYes);
  const fs::path second = file("checkpoint_epoch_002.pt");
  EXPECT_FALSE(store.rewind(read(second), second));
  EXPECT_EQ(epoch_in(store.best()), 3);
}

TEST_F(StoreTest, AnotherEpochValueOrADamagedFileIsNotTheBest) {
  const Store store(folder_.path(), 3);
  EXPECT_FALSE(store.read_best({1, 0.5}).has_value());
  store.save(of_best_epoch(1), SaveReason::kEpoch, IsBest::kYes);
  EXPECT_TRUE(store.read_best({1, 0.5}).has_value());
  EXPECT_FALSE(store.read_best({2, 0.5}).has_value());
  EXPECT_FALSE(store.read_best({1, 0.25}).has_value());  // of another course
  folder_.write("best.pt", "half a file");
  EXPECT_FALSE(store.read_best({1, 0.5}).has_value());
}

TEST_F(StoreTest, TheNewestEpochUpToOneIsFound) {
  const Store store(folder_.path(), 5);
  EXPECT_EQ(store.newest_epoch(3), fs::path());
  for (const int64_t epoch : {0, 2, 4})
    store.save(of_epoch(epoch), SaveReason::kEpoch, IsBest::kNo);
  EXPECT_EQ(store.newest_epoch(1), file("checkpoint_epoch_000.pt"));
  EXPECT_EQ(store.newest_epoch(3), file("checkpoint_epoch_002.pt"));
  EXPECT_EQ(store.newest_epoch(9), file("checkpoint_epoch_004.pt"));
}

TEST_F(StoreTest, TheNewestCheckpointComesFirst) {
  EXPECT_EQ(newest_first(folder_.path()), std::vector<fs::path>());
  const Store store(folder_.path(), 5);
  store.save(of_best_epoch(1), SaveReason::kEpoch, IsBest::kYes);
  store.save(of_epoch(2), SaveReason::kEpoch, IsBest::kNo);
  store.save(within_epoch(2, 22), SaveReason::kStep, IsBest::kNo);
  folder_.write("notes.txt", "");
  EXPECT_EQ(newest_first(folder_.path()),
            (std::vector<fs::path>{file("last.pt"), file("checkpoint_step_00000022.pt"),
                                   file("checkpoint_epoch_002.pt"), file("checkpoint_epoch_001.pt"),
                                   file("best.pt")}));
}

TEST_F(StoreTest, EpochsAreOrderedAsNumbers) {
  const Store store(folder_.path(), 2);
  for (const int64_t epoch : {998, 999, 1000})
    store.save(of_epoch(epoch), SaveReason::kEpoch, IsBest::kNo);
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_1000.pt", "checkpoint_epoch_999.pt", "last.pt"}));
}

TEST_F(StoreTest, FilesOfOtherNamesAreLeftAlone) {
  const Names strangers = {"checkpoint_epoch_.pt", "checkpoint_epoch_001.bak",
                           "checkpoint_epoch_001_copy.pt", "my.pt"};
  for (const std::string& name : strangers) folder_.write(name, "");
  const Store store(folder_.path(), 1);
  for (int64_t epoch = 1; epoch <= 3; ++epoch)
    store.save(of_epoch(epoch), SaveReason::kEpoch, IsBest::kNo);
  for (const std::string& name : strangers) EXPECT_TRUE(fs::exists(file(name))) << name;
  EXPECT_FALSE(fs::exists(file("checkpoint_epoch_002.pt")));
}

TEST_F(StoreTest, AFolderThatVanishedIsAnError) {
  const Store store(folder_.path() / "absent", 1);
  const Error error =
      test::error_of([&] { store.save(of_epoch(1), SaveReason::kEpoch, IsBest::kYes); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
}

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

std::string line(int64_t epoch) {
  return "{\"step\":1,\"epoch\":" + std::to_string(epoch) + ",\"split\":\"train\"}\n";
}

// A run of three epochs whose second is the best.
class SupersededTest : public testing::Test {
 protected:
  SupersededTest() {
    fs::create_directories(run_.checkpoints());
    for (const int64_t epoch : {1, 2, 3}) {
      records_ += line(epoch);
      Checkpoint c = test::full_checkpoint();
      c.state.position = {.epoch = epoch, .step = 10 * epoch, .samples_in_epoch = 0};
      c.metrics_bytes = records_.size();
      const auto is_best = epoch == 2 ? Store::IsBest::kYes : Store::IsBest::kNo;
      Store(run_.checkpoints(), 3).save(c, SaveReason::kEpoch, is_best);
    }
    folder_.write("metrics.jsonl", records_);
  }

  fs::path file(const std::string& name) const { return run_.checkpoints() / name; }
  auto keep(const std::string& name, Course course = Course::kSame) const {
    return keep_superseded(run_, read(file(name)), file(name), course);
  }
  fs::path kept(const std::string& number) const { return run_.root / "superseded" / number; }

  test::TemporaryFolder folder_;
  run::RunDir run_{folder_.path()};
  std::string records_;
};

TEST_F(SupersededTest, WhatIsLaterThanTheCheckpointIsKept) {
  folder_.write("summary.json", "{}");
  const Names before = test::file_names(run_.checkpoints());
  EXPECT_EQ(keep("checkpoint_epoch_001.pt"), kept("1"));
  EXPECT_EQ(test::file_names(kept("1")), (Names{"checkpoints", "metrics.jsonl", "summary.json"}));
  EXPECT_EQ(test::file_names(kept("1") / "checkpoints"),
            (Names{"best.pt", "checkpoint_epoch_002.pt", "checkpoint_epoch_003.pt", "last.pt"}));
  EXPECT_EQ(test::read_file(kept("1") / "metrics.jsonl"), line(2) + line(3));
  EXPECT_EQ(read(kept("1") / "checkpoints/last.pt").state.position.epoch, 3);
  EXPECT_EQ(test::file_names(run_.checkpoints()), before);
  EXPECT_EQ(test::read_file(run_.metrics()), records_);
  const auto all = run::list_superseded(run_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(description(all[0]), "epochs 2 to 3: 2 records, 4 checkpoints, results");
}

TEST_F(SupersededTest, AnEarlierBestCheckpointIsNotKept) {
  EXPECT_EQ(keep("best.pt"), kept("1"));
  EXPECT_EQ(test::file_names(kept("1") / "checkpoints"),
            (Names{"checkpoint_epoch_003.pt", "last.pt"}));
  EXPECT_EQ(description(run::read_superseded(kept("1"))), "epoch 3: 1 record, 2 checkpoints");
}

TEST_F(SupersededTest, NothingIsKeptTwice) {
  EXPECT_EQ(keep("checkpoint_epoch_002.pt"), kept("1"));
  // Killed before the folder was rewound.
  EXPECT_EQ(keep("checkpoint_epoch_002.pt"), std::nullopt);
  EXPECT_EQ(test::file_names(run_.root / "superseded"), Names{"1"});
  // What is new is.
  folder_.write("metrics.jsonl", records_ + line(4));
  EXPECT_EQ(keep("checkpoint_epoch_002.pt"), kept("2"));
  EXPECT_EQ(test::read_file(kept("2") / "metrics.jsonl"), line(3) + line(4));
}

TEST_F(SupersededTest, RecordsAfterTheLastCheckpointAreKeptOnlyOnAnotherCourse) {
  folder_.write("metrics.jsonl", records_ + line(4));
  EXPECT_EQ(keep("last.pt"), std::nullopt);
  EXPECT_FALSE(fs::exists(run_.root / "superseded"));
  EXPECT_EQ(keep("last.pt", Course::kOther), kept("1"));
  EXPECT_EQ(description(run::read_superseded(kept("1"))), "epoch 4: 1 record");
}

TEST_F(SupersededTest, TheResultsOfARunThatGoesOnAreKept) {
  folder_.write("summary.json", "{}");
  folder_.write("metrics.jsonl",
                records_ + "{\"step\":20,\"epoch\":2,\"split\":\"test\",\"loss\":1}\n");
  EXPECT_EQ(keep("last.pt"), kept("1"));
  EXPECT_EQ(description(run::read_superseded(kept("1"))), "1 record, results");
}

TEST_F(SupersededTest, WhatAKilledProcessLeftIsRemoved) {
  folder_.write("superseded/.tmp-new/checkpoints/last.pt", "a part");
  EXPECT_EQ(keep("checkpoint_epoch_001.pt"), kept("1"));
  EXPECT_EQ(test::file_names(run_.root / "superseded"), Names{"1"});
}

TEST_F(SupersededTest, AnAttemptThatFailsLeavesNothing) {
  {
    const test::FileSizeLimit limit(10);
    EXPECT_EQ(test::message_of(ErrorKind::kFileSystem, [&] { keep("checkpoint_epoch_001.pt"); }),
              "cannot write " + (run_.root / "superseded/.tmp-new/metrics.jsonl").string() +
                  ": File too large");
  }
  EXPECT_TRUE(test::file_names(run_.root / "superseded").empty());
}

TEST_F(SupersededTest, ACheckpointThatIsDamagedIsNotKept) {
  fs::resize_file(file("checkpoint_epoch_003.pt"), 100);  // and last.pt
  // The run does the same again.
  EXPECT_EQ(keep("checkpoint_epoch_002.pt"), std::nullopt);
}

}  // namespace

}  // namespace trainer::checkpoint
