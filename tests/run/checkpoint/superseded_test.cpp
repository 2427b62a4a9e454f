// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/superseded.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/run/checkpoint/store.h"
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
  EXPECT_EQ(to_text(all[0]), "epochs 2 to 3: 2 records, 4 checkpoints, results");
}

TEST_F(SupersededTest, AnEarlierBestCheckpointIsNotKept) {
  EXPECT_EQ(keep("best.pt"), kept("1"));
  EXPECT_EQ(test::file_names(kept("1") / "checkpoints"),
            (Names{"checkpoint_epoch_003.pt", "last.pt"}));
  EXPECT_EQ(to_text(run::read_superseded(kept("1"))), "epoch 3: 1 record, 2 checkpoints");
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
  EXPECT_EQ(to_text(run::read_superseded(kept("1"))), "epoch 4: 1 record");
}

TEST_F(SupersededTest, TheResultsOfARunThatGoesOnAreKept) {
  folder_.write("summary.json", "{}");
  folder_.write("metrics.jsonl",
                records_ + "{\"step\":20,\"epoch\":2,\"split\":\"test\",\"loss\":1}\n");
  EXPECT_EQ(keep("last.pt"), kept("1"));
  EXPECT_EQ(to_text(run::read_superseded(kept("1"))), "1 record, results");
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
