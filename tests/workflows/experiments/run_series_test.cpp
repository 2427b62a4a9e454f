// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/run_series.h"

#include <gtest/gtest.h>

#include "trainer/config/dump.h"

#include "support/temporary_folder.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

TEST(RunSeriesTest, TheNewestFolderOfATagIsFound) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(find_run(folder.path(), "fold_1"), std::nullopt);
  for (const char* name : {"20260101_000000_fold_1", "20260102_000000_fold_1",
                           "20260103_000000_fold_11", "20260103_000000_fold_2"}) {
    fs::create_directory(folder.path() / name);
  }
  EXPECT_EQ(find_run(folder.path(), "fold_1"), folder.path() / "20260102_000000_fold_1");
  EXPECT_EQ(find_run(folder.path() / "absent", "fold_1"), std::nullopt);
}

// The batch size follows from the data, which nobody has read yet.
TEST(RunSeriesTest, ACompleteRunOfARecipeIsNotTrainedAgain) {
  const test::TemporaryFolder folder;
  const SeriesRequest request{.config_files = {},
                              .overrides = {{"output_dir", folder.path().string(), "--output-dir"},
                                            {"recipe", "realmlp", "--recipe"}},
                              .resume = {}};
  RunSeries series = new_series(request);
  open_series(
      request, "series", [] { return false; }, series);
  const SeriesRun run{.tag = "member_1", .overrides = {{"training.seed", "7", "test"}}};
  EXPECT_EQ(find_complete(series, run), std::nullopt);
  const RunOutcome outcome = complete_run(series, run, [&](const RunJob& job) {
    config::Loaded config = job.config;
    EXPECT_EQ(config.config.training.seed, 7);
    config.config.training.batch_size = 64;
    config.config.pending.clear();
    const fs::path run_dir = series.folder / "20260101_000000_member_1";
    fs::create_directories(run_dir);
    folder.write((run_dir / "config_resolved.yaml").string(), config::dump(config));
    return RunOutcome{run_dir, 0};
  });
  EXPECT_EQ(find_complete(series, run), std::nullopt);
  folder.write((outcome.run_dir / "summary.json").string(), "{}");
  EXPECT_EQ(find_complete(series, run), outcome.run_dir);
  const SeriesRun other{.tag = "member_1", .overrides = {{"training.seed", "8", "test"}}};
  EXPECT_EQ(find_complete(series, other), std::nullopt);
}

}  // namespace
}  // namespace trainer::experiments
