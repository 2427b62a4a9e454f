// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/fold_runs.h"

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

TEST(FoldRunsTest, RepeatsFollowEachOther) {
  const std::vector<FoldIndex> indices = all_folds({2, 2});
  ASSERT_EQ(indices.size(), 4U);
  EXPECT_EQ(indices[1].fold, 2);
  EXPECT_EQ(indices[1].repeat, 1);
  EXPECT_EQ(indices[2].fold, 1);
  EXPECT_EQ(indices[2].repeat, 2);
}

TEST(FoldRunsTest, OnlyRepeatsAreNamed) {
  EXPECT_EQ(fold_tag({3, 1}, {5, 1}), "fold_3");
  EXPECT_EQ(fold_tag({3, 2}, {5, 10}), "fold_3_repeat_2_of_10");
  EXPECT_EQ(fold_name({3, 1}, {5, 1}), "fold 3/5");
  EXPECT_EQ(fold_name({3, 2}, {5, 10}), "fold 3/5 of repeat 2/10");
}

TEST(FoldRunsTest, TheNumberOfRepeatsIsThatOfTheFirstRun) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(find_num_repeats(folder.path()), 1);
  fs::create_directory(folder.path() / "20260101_000000_fold_1_repeat_1_of_12");
  EXPECT_EQ(find_num_repeats(folder.path()), 12);
  EXPECT_EQ(find_num_repeats(folder.path() / "absent"), 1);
}

TEST(FoldRunsTest, ASummaryHasTheTestMetrics) {
  const test::TemporaryFolder folder;
  const fs::path run = folder.path() / "run";
  EXPECT_EQ(read_fold(run, {}), std::nullopt);
  folder.write("run/summary.json",
               R"({"best": {"epoch": 7}, "test": {"rows": 20, "loss": 0.5, "labels": ["a"],
                   "baseline": {"rule": "mean", "loss": 0.9}}})");
  const std::optional<metrics::FoldResult> result = read_fold(run, {2, 3});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->fold, 2);
  EXPECT_EQ(result->repeat, 3);
  EXPECT_EQ(result->run, "run");
  EXPECT_EQ(result->best_epoch, 7);
  EXPECT_EQ(result->num_rows, 20);
  ASSERT_EQ(result->scores.size(), 1U);
  EXPECT_EQ(result->scores[0].name, "loss");
  ASSERT_EQ(result->baseline.size(), 1U);
  EXPECT_EQ(result->baseline[0].value, 0.9);
}

TEST(FoldRunsTest, ASummaryWithoutATestPartIsAnError) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("run/summary.json", "{}").string();
  EXPECT_EQ(test::message_of(ErrorKind::kFileSystem, [&] { read_fold(folder.path() / "run", {}); }),
            path +
                ": expected the summary of a run with a test split; remove the run folder to train "
                "this fold again");
  folder.write("run/summary.json", R"({"test": {"rows": "x"}})");
  EXPECT_EQ(test::message_of(ErrorKind::kCheckpoint, [&] { read_fold(folder.path() / "run", {}); }),
            path + ": test.rows: expected an integer >= 0, got \"x\"; the file is damaged");
}

}  // namespace
}  // namespace trainer::experiments
