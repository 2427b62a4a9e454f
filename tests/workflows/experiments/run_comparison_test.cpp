// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/run_comparison.h"

#include <gtest/gtest.h>

#include "trainer/run/checkpoint/checkpoint.h"

#include "support/checkpoints.h"
#include "support/temporary_folder.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

class RunComparisonTest : public testing::Test {
 protected:
  RunComparisonTest() {
    for (const char* run : {"a", "b"}) {
      folder_.write(std::string(run) + "/metrics.jsonl",
                    "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":1.5}\n");
      fs::create_directory(folder_.path() / run / "checkpoints");
      for (const char* name : {"last.pt", "best.pt"}) save(run, name, test::sound_checkpoint());
    }
    fs::create_directory_symlink("b", folder_.path() / "latest");
  }

  void save(const char* run, const char* name, const checkpoint::Checkpoint& c) const {
    checkpoint::write(folder_.path() / run / "checkpoints" / name, c);
  }

  std::optional<std::string> difference() const {
    return first_run_difference(folder_.path() / "a", folder_.path() / "latest");
  }

  test::TemporaryFolder folder_;
};

TEST_F(RunComparisonTest, EqualRunsAreEqual) { EXPECT_EQ(difference(), std::nullopt); }

TEST_F(RunComparisonTest, TheFileThatDiffersIsNamed) {
  folder_.write("b/metrics.jsonl", "{\"step\":1,\"loss\":2.5}\n");
  EXPECT_EQ(difference(), "metrics.jsonl: line 2: {\"step\":2,\"loss\":1.5} and nothing");
  checkpoint::Checkpoint c = test::sound_checkpoint();
  ++c.state.position.step;
  save("b", "best.pt", c);
  EXPECT_EQ(difference(), "best.pt: progress step: 12 and 13");
  ++c.state.position.step;
  save("b", "last.pt", c);
  EXPECT_EQ(difference(), "last.pt: progress step: 12 and 14");
}

TEST_F(RunComparisonTest, AFileThatIsMissingIsADifference) {
  fs::remove(folder_.path() / "b/checkpoints/best.pt");
  EXPECT_EQ(difference(), (folder_.path() / "latest/checkpoints/best.pt").string() +
                              ": cannot be opened: No such file or directory");
}

TEST_F(RunComparisonTest, TheNewestRecordsStepIsThatOfTheLatestRun) {
  EXPECT_EQ(last_recorded_step(folder_.path()), 2);
  folder_.write("b/metrics.jsonl", "{\"step\":7}\n{\"st");
  EXPECT_EQ(last_recorded_step(folder_.path()), 7);
  folder_.write("b/metrics.jsonl", "");
  EXPECT_EQ(last_recorded_step(folder_.path()), std::nullopt);
  EXPECT_EQ(last_recorded_step(folder_.path() / "absent"), std::nullopt);
}

TEST_F(RunComparisonTest, ATraceDiffersWhenARunTrains) {
  EXPECT_TRUE(snapshot_runs(folder_.path() / "absent").empty());
  const RunSnapshot before = snapshot_runs(folder_.path());
  EXPECT_EQ(before.size(), 4U);
  EXPECT_EQ(snapshot_runs(folder_.path()), before);
  folder_.write("b/config_resolved.yaml", "seed: 1\n");
  EXPECT_EQ(snapshot_runs(folder_.path()), before);
  folder_.write("b/metrics.jsonl", "{\"step\":1}\n");
  const RunSnapshot recorded = snapshot_runs(folder_.path());
  EXPECT_NE(recorded, before);
  fs::create_directories(folder_.path() / "c/checkpoints");
  EXPECT_NE(snapshot_runs(folder_.path()), recorded);
}

}  // namespace
}  // namespace trainer::experiments
