// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/store.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/core/error.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::checkpoint {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

Checkpoint of_epoch(int64_t epoch) {
  Checkpoint c = test::full_checkpoint();
  c.position.epoch = epoch;
  return c;
}

class StoreTest : public testing::Test {
 protected:
  Names files() const {
    Names names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  fs::path file(const std::string& name) const { return folder_.path() / name; }
  static int64_t epoch_in(const fs::path& path) { return read(path).position.epoch; }

  test::TemporaryFolder folder_;
};

TEST_F(StoreTest, AnEpochIsTheLastUntilTheNext) {
  Store store(folder_.path(), 3);
  store.save(of_epoch(1), {.epoch_file = true});
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_001.pt", "last.pt"}));
  store.save(of_epoch(2), {.epoch_file = true});
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_001.pt", "checkpoint_epoch_002.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(store.last()), 2);
  EXPECT_EQ(epoch_in(file("checkpoint_epoch_001.pt")), 1);
}

TEST_F(StoreTest, NamesOfOneCheckpointShareItsBytes) {
  Store store(folder_.path(), 3);
  store.save(of_epoch(1), {.epoch_file = true, .best = true});
  EXPECT_EQ(files(), (Names{"best.pt", "checkpoint_epoch_001.pt", "last.pt"}));
  EXPECT_TRUE(fs::equivalent(store.best(), store.last()));
  EXPECT_EQ(fs::hard_link_count(store.best()), 3U);
  store.save(of_epoch(2), {.epoch_file = true});
  EXPECT_EQ(epoch_in(store.best()), 1);
  EXPECT_EQ(epoch_in(store.last()), 2);
}

TEST_F(StoreTest, TheBestMayBeSavedWithoutAnEpochFile) {
  Store store(folder_.path(), 3);
  store.save(of_epoch(1), {.epoch_file = true, .best = true});
  store.save(of_epoch(2), {.best = true});
  EXPECT_EQ(files(), (Names{"best.pt", "checkpoint_epoch_001.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(store.best()), 2);
  EXPECT_EQ(epoch_in(store.last()), 1);
  EXPECT_EQ(epoch_in(file("checkpoint_epoch_001.pt")), 1);
}

TEST_F(StoreTest, OlderEpochsAreRemovedButNotTheBest) {
  Store store(folder_.path(), 2);
  for (int64_t epoch = 1; epoch <= 4; ++epoch) {
    store.save(of_epoch(epoch), {.epoch_file = true, .best = epoch == 1});
  }
  EXPECT_EQ(files(),
            (Names{"best.pt", "checkpoint_epoch_003.pt", "checkpoint_epoch_004.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(store.best()), 1);
}

TEST_F(StoreTest, EpochsThatAResumeGaveUpAreRemoved) {
  Store store(folder_.path(), 3);
  for (int64_t epoch = 1; epoch <= 5; ++epoch) store.save(of_epoch(epoch), {.epoch_file = true});
  Store resumed(folder_.path(), 3);
  resumed.save(of_epoch(4), {.epoch_file = true});
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_003.pt", "checkpoint_epoch_004.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(resumed.last()), 4);
}

// A checkpoint whose own epoch is the best, with the value that the store tests look for.
Checkpoint of_best_epoch(int64_t epoch) {
  Checkpoint c = of_epoch(epoch);
  c.best = Best{.epoch = epoch, .value = 0.5};
  return c;
}

TEST_F(StoreTest, TheBestThatIsThereStays) {
  Store store(folder_.path(), 3);
  store.save(of_best_epoch(1), {.epoch_file = true, .best = true});
  store.save(of_epoch(2), {.epoch_file = true});
  EXPECT_TRUE(store.recover_best({1, 0.5}, store.last()));
  EXPECT_EQ(epoch_in(store.best()), 1);
}

TEST_F(StoreTest, TheBestComesBackFromTheFileOfItsEpoch) {
  Store store(folder_.path(), 3);
  store.save(of_best_epoch(1), {.epoch_file = true, .best = true});
  store.save(of_epoch(2), {.epoch_file = true});
  store.save(of_best_epoch(3), {.epoch_file = true, .best = true});
  EXPECT_TRUE(store.recover_best({1, 0.5}, file("checkpoint_epoch_002.pt")));
  EXPECT_EQ(epoch_in(store.best()), 1);
  EXPECT_EQ(epoch_in(file("checkpoint_epoch_003.pt")), 3);
}

TEST_F(StoreTest, TheBestComesBackFromTheCheckpointThatIsResumed) {
  const test::TemporaryFolder elsewhere;
  const fs::path resumed = elsewhere.path() / "copy.pt";
  write(resumed, of_best_epoch(1));
  Store store(folder_.path(), 3);
  EXPECT_TRUE(store.recover_best({1, 0.5}, resumed));
  EXPECT_EQ(epoch_in(store.best()), 1);
  EXPECT_EQ(epoch_in(resumed), 1);
}

TEST_F(StoreTest, TheBestIsAFileOfItsOwnWhereALinkIsResumed) {
  const test::TemporaryFolder elsewhere;
  write(elsewhere.path() / "copy.pt", of_best_epoch(1));
  fs::create_symlink("copy.pt", elsewhere.path() / "link.pt");
  Store store(folder_.path(), 3);
  EXPECT_TRUE(store.recover_best({1, 0.5}, elsewhere.path() / "link.pt"));
  EXPECT_FALSE(fs::is_symlink(store.best()));
  EXPECT_EQ(epoch_in(store.best()), 1);
}

TEST_F(StoreTest, AnotherEpochValueOrADamagedFileIsNotTheBest) {
  Store store(folder_.path(), 3);
  store.save(of_best_epoch(1), {.epoch_file = true});
  EXPECT_FALSE(store.recover_best({2, 0.5}, store.last()));
  EXPECT_FALSE(store.recover_best({1, 0.25}, store.last()));  // of another course
  EXPECT_FALSE(fs::exists(store.best()));
  folder_.write("checkpoint_epoch_007.pt", "half a file");
  EXPECT_FALSE(store.recover_best({7, 0.5}, store.last()));
}

TEST_F(StoreTest, EpochsAreOrderedAsNumbers) {
  Store store(folder_.path(), 2);
  for (const int64_t epoch : {998, 999, 1000}) store.save(of_epoch(epoch), {.epoch_file = true});
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_1000.pt", "checkpoint_epoch_999.pt", "last.pt"}));
}

TEST_F(StoreTest, FilesOfOtherNamesAreLeftAlone) {
  const Names strangers = {"checkpoint_epoch_.pt", "checkpoint_epoch_001.bak",
                           "checkpoint_epoch_001_copy.pt", "my.pt"};
  for (const std::string& name : strangers) folder_.write(name, "");
  Store store(folder_.path(), 1);
  for (int64_t epoch = 1; epoch <= 3; ++epoch) store.save(of_epoch(epoch), {.epoch_file = true});
  for (const std::string& name : strangers) EXPECT_TRUE(fs::exists(file(name))) << name;
  EXPECT_FALSE(fs::exists(file("checkpoint_epoch_002.pt")));
}

TEST_F(StoreTest, ALinkThatAnEndedProcessLeftBehindIsReplaced) {
  folder_.write(".last.pt.tmp-link", "half");
  Store store(folder_.path(), 1);
  store.save(of_epoch(1), {.epoch_file = true});
  EXPECT_EQ(files(), (Names{"checkpoint_epoch_001.pt", "last.pt"}));
  EXPECT_EQ(epoch_in(store.last()), 1);
}

TEST_F(StoreTest, AFolderThatVanishedIsAnError) {
  Store store(folder_.path() / "absent", 1);
  const Error error =
      test::error_of([&] { store.save(of_epoch(1), {.epoch_file = true, .best = true}); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
}

}  // namespace
}  // namespace trainer::checkpoint
