// SPDX-License-Identifier: Apache-2.0
// Cross-validation by the program.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/io/folder_lock.h"
#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::cells_of;
using test::kSource;
using test::read_file;

class CvTest : public test::ProgramTest {
 protected:
  test::ProcessResult cv(const std::string& config, const std::string& more = "") {
    return trainer("cv " + test::with_config(config) + more);
  }
  /// The only folder in runs.
  fs::path cv_folder() const { return only_in(folder_.path() / "runs"); }
  static fs::path only_in(const fs::path& folder) {
    const std::vector<fs::directory_entry> found{fs::directory_iterator(folder), {}};
    EXPECT_EQ(found.size(), 1U);
    return found.front().path();
  }
  static bool has_fold(const fs::path& folder, int fold) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().string().ends_with("fold_" + std::to_string(fold))) return true;
    }
    return false;
  }
  Json results() const { return parse_json(test::read_file(cv_folder() / "cv.json")); }
};

TEST_F(CvTest, PenguinsReachNinetySevenPercentOverFiveFolds) {
  const test::ProcessResult result = cv("penguins.yaml", "--folds 5");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json all = results();
  EXPECT_GE(all["mean"]["accuracy"].get<double>(), 0.97) << result.out;
  int64_t num_rows = 0;
  for (const Json& run : all["runs"]) {
    num_rows += run["rows"].get<int64_t>();
    EXPECT_TRUE(fs::exists(cv_folder() / run["run"].get<std::string>() / "summary.json"));
  }
  EXPECT_EQ(num_rows, 344);
  EXPECT_TRUE(result.out.starts_with("fold  best epoch  rows ")) << result.out;
  EXPECT_NE(result.err.find("fold 5/5  loss "), std::string::npos) << result.err;
}

TEST_F(CvTest, MilesAGallonReachAnR2OfEightyFivePercentOverFiveFolds) {
  const test::ProcessResult result = cv("auto_mpg.yaml", "--folds 5 --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(parse_json(result.out)["mean"]["r2"].get<double>(), 0.85) << result.out;
}

TEST_F(CvTest, DigitsReachNinetySevenAndAHalfPercentOverFiveFolds) {
  const test::ProcessResult result = cv("train.yaml", "--folds 5 --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(parse_json(result.out)["mean"]["accuracy"].get<double>(), 0.975) << result.out;
}

TEST_F(CvTest, GoesOnWithWhatIsMissingAndEndsWithTheSame) {
  const test::ProcessResult whole = cv("penguins.yaml", "--folds 3 --epochs 3");
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const Json before = results();
  // As if it had been killed in the second fold, before anything of the third.
  const std::string second = before["runs"][1]["run"];
  fs::remove(cv_folder() / second / "summary.json");
  fs::remove_all(cv_folder() / before["runs"][2]["run"].get<std::string>());
  const test::ProcessResult result = trainer("cv --resume " + cv_folder().string());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json after = results();
  EXPECT_EQ(after["runs"][1]["run"], second);
  EXPECT_EQ(after["mean"], before["mean"]);
  EXPECT_EQ(after["std"], before["std"]);
}

TEST_F(CvTest, ResumeAutoGoesOnWithTheSameOrStartsANewOne) {
  const std::string arguments = "-q --folds 2 --epochs 2 --resume auto";
  ASSERT_EQ(cv("penguins.yaml", arguments).exit_code, 0);
  const Json before = results();
  // As if it had been killed in the second fold.
  fs::remove(cv_folder() / before["runs"][1]["run"].get<std::string>() / "summary.json");
  fs::remove(cv_folder() / "cv.json");
  ASSERT_EQ(cv("penguins.yaml", arguments).exit_code, 0);
  EXPECT_EQ(results()["runs"], before["runs"]);
  // Neither another configuration nor other options are the same.
  const auto num_folders = [&] {
    const fs::directory_iterator files(folder_.path() / "runs");
    return std::count_if(begin(files), end(files), [](const auto& file) {
      return file.path().string().find("_cv") != std::string::npos;
    });
  };
  ASSERT_EQ(cv("penguins.yaml", arguments + " --lr 0.01").exit_code, 0);
  EXPECT_EQ(num_folders(), 2);
  ASSERT_EQ(cv("penguins.yaml", arguments + " --repeats 2").exit_code, 0);
  EXPECT_EQ(num_folders(), 3);
  ASSERT_EQ(cv("penguins.yaml", arguments + " --lr 0.01").exit_code, 0);
  EXPECT_EQ(num_folders(), 3);
}

TEST_F(CvTest, FoldsOfOtherConfigurationsAreRefused) {
  ASSERT_EQ(cv("penguins.yaml", "-q --folds 2 --epochs 1").exit_code, 0);
  const fs::path folder = cv_folder();
  const Json before = results();
  fs::remove_all(folder / before["runs"][1]["run"].get<std::string>());
  folder_.write("other.yaml", "training: {batch_size: 7}\n");
  const auto resumed = [&](const std::string& more) {
    return trainer("cv -q --resume " + folder.string() + more);
  };
  const auto refusal = [&](const std::string& changes) {
    return "error: " + folder.string() +
           ": the configuration differs from that of this cross-validation:\n  " + changes +
           "\nundo the changes, or start a new one without --resume\n";
  };
  const test::ProcessResult rate = resumed(" training.learning_rate=0.5");
  EXPECT_EQ(rate.exit_code, 7);
  EXPECT_TRUE(
      rate.err.ends_with(" before, 0.5 now\nundo the changes, or start a new one without "
                         "--resume\n"))
      << rate.err;
  EXPECT_EQ(resumed(" --folds 3").err, refusal("data.folds: 2 before, 3 now"));
  const test::ProcessResult file = resumed(" --config other.yaml --allow-changes");
  EXPECT_NE(file.err.find("training.batch_size: "), std::string::npos) << file.err;
  EXPECT_EQ(file.exit_code, 7);
  EXPECT_FALSE(has_fold(folder, 2));
  ASSERT_EQ(resumed("").exit_code, 0);
  EXPECT_EQ(results()["mean"], before["mean"]);
  // On a complete one too.
  EXPECT_EQ(resumed(" data.folds=4").err, refusal("data.folds: 2 before, 4 now"));
}

TEST_F(CvTest, WhatAResumeMayChangeHoldsForAllFolds) {
  ASSERT_EQ(cv("penguins.yaml",
               "-q --folds 2 --epochs 2 training.schedule.name=constant "
               "training.early_stopping.patience=0 output_dir=whole")
                .exit_code,
            0);
  ASSERT_EQ(cv("penguins.yaml",
               "-q --folds 2 --epochs 1 training.schedule.name=constant "
               "training.early_stopping.patience=0")
                .exit_code,
            0);
  const test::ProcessResult result = trainer("cv -q --epochs 2 --resume " + cv_folder().string());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(results()["mean"],
            parse_json(test::read_file(only_in(folder_.path() / "whole") / "cv.json"))["mean"]);
}

TEST_F(CvTest, ThoseThatBeginInOneSecondHaveFoldersOfTheirOwn) {
  const std::string one = test::kTrainer + " cv --config " +
                          (kSource / "configs/penguins.yaml").string() +
                          " --folds 2 --epochs 1 threads=1 --lr ";
  const test::ProcessResult result =
      test::run_process("sh -c 'cd " + folder_.path().string() +
                        "; for rate in 0.001 0.002 0.003 0.004; do " + one + "$rate & done; wait'");
  EXPECT_EQ(result.err.find("warning"), std::string::npos) << result.err;
  std::set<std::string> rates;
  for (const auto& entry : fs::directory_iterator(folder_.path() / "runs")) {
    EXPECT_NE(result.out.find("folder      " + entry.path().string() + "\n"), std::string::npos);
    for (const char* fold : {"fold_1", "fold_2"}) {
      const Json runs = parse_json(test::read_file(entry.path() / "cv.json"))["runs"];
      const std::string run = runs[fold == std::string("fold_1") ? 0 : 1]["run"];
      EXPECT_TRUE(run.ends_with(fold)) << run;
      const std::string config = test::read_file(entry.path() / run / "config_resolved.yaml");
      const std::size_t at = config.find("learning_rate: ");
      rates.insert(config.substr(at, std::string("learning_rate: 0.001").size()) + " " + fold);
    }
  }
  EXPECT_EQ(rates.size(), 8U) << result.out;
}

TEST_F(CvTest, AFolderIsWrittenByOneAtATime) {
  ASSERT_EQ(cv("penguins.yaml", "-q --folds 2 --epochs 1").exit_code, 0);
  const FolderLock lock(cv_folder());
  const test::ProcessResult result = trainer("cv --resume " + cv_folder().string());
  EXPECT_EQ(result.exit_code, 8);
  EXPECT_EQ(result.err, "error: " + cv_folder().string() +
                            ": another process is using this folder; wait until it has finished\n");
}

TEST_F(CvTest, ProcessesOfALauncherShareTheFolds) {
  const std::string options = "--folds 5 --epochs 3 ";
  ASSERT_EQ(cv("penguins.yaml", options + "output_dir=alone").exit_code, 0);
  const fs::path alone = only_in(folder_.path() / "alone");
  const std::string command =
      test::kTrainer + " cv " + test::with_config("penguins.yaml") + options;
  const test::ProcessResult result =
      test::run_process("sh -c 'cd " + folder_.path().string() +
                        "; export WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=29500; RANK=1 " +
                        command + ">out 2>err & RANK=0 " + command + "&& wait $!'");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(path("out")), "");
  EXPECT_EQ(read_file(path("err")), "");
  EXPECT_TRUE(result.out.starts_with("fold  best epoch  rows ")) << result.out;
  const Json expected = parse_json(read_file(alone / "cv.json"));
  for (const char* name : {"mean", "std", "baseline"}) EXPECT_EQ(results()[name], expected[name]);
  EXPECT_EQ(read_file(cv_folder() / "out_of_fold.csv"), read_file(alone / "out_of_fold.csv"));
  EXPECT_EQ(test::file_names(cv_folder()).size(), test::file_names(alone).size());
}

TEST_F(CvTest, EachRowIsPredictedByTheRunThatDidNotLearnFromIt) {
  ASSERT_EQ(cv("penguins.yaml", "--folds 3 --epochs 3 data.id=island").exit_code, 0);
  const auto rows = cells_of(read_file(cv_folder() / "out_of_fold.csv"));
  ASSERT_EQ(rows.size(), 345U);
  EXPECT_EQ(rows[0],
            (std::vector<std::string>{"island", "line", "fold", "repeat", "target", "prediction",
                                      "p_Adelie", "p_Chinstrap", "p_Gentoo"}));
  const auto table = cells_of(read_file(kSource / "configs" / "data" / "penguins.csv"));
  const Json all = results();
  std::vector<double> right(3);
  std::vector<double> num_rows(3);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][1], std::to_string(i + 1));
    EXPECT_EQ(rows[i][0], table[i][1]) << i;
    EXPECT_EQ(rows[i][4], table[i][0]) << i;
    const auto fold = static_cast<std::size_t>(std::stoi(rows[i][2])) - 1;
    right[fold] += rows[i][4] == rows[i][5] ? 1 : 0;
    ++num_rows[fold];
  }
  for (std::size_t fold = 0; fold < 3; ++fold) {
    EXPECT_EQ(all["runs"][fold]["accuracy"].get<double>(), right[fold] / num_rows[fold]);
  }
}

TEST_F(CvTest, RepeatsHaveOtherFoldsAndGoOnToo) {
  const test::ProcessResult whole = cv("penguins.yaml", "--folds 2 --repeats 2 --epochs 2");
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const Json before = results();
  const std::string predictions = test::read_file(cv_folder() / "out_of_fold.csv");
  EXPECT_EQ(before["repeats"], 2);
  ASSERT_EQ(before["runs"].size(), 4U);
  EXPECT_EQ(before["runs"][2]["repeat"], 2);
  EXPECT_TRUE(before["baseline"].contains("accuracy"));
  EXPECT_NE(whole.err.find("fold 1/2 of repeat 2/2  loss "), std::string::npos) << whole.err;
  EXPECT_NE(whole.out.find("\n1          2 "), std::string::npos) << whole.out;
  const auto rows = cells_of(read_file(cv_folder() / "out_of_fold.csv"));
  ASSERT_EQ(rows.size(), 1U + 2 * 344);
  int num_moved = 0;
  for (std::size_t i = 1; i <= 344; ++i) num_moved += rows[i][1] != rows[i + 344][1] ? 1 : 0;
  EXPECT_GT(num_moved, 100);
  // The first repeat is what a cross-validation without repeats is.
  double mean = 0;
  for (std::size_t fold = 0; fold < 2; ++fold) {
    mean += before["runs"][fold]["loss"].get<double>() / 2;
  }
  const Json once = parse_json(cv("penguins.yaml", "--folds 2 --epochs 2 --json output_dir=o").out);
  EXPECT_EQ(once["mean"]["loss"].get<double>(), mean);
  EXPECT_FALSE(once.contains("repeats"));

  EXPECT_EQ(trainer("cv --repeats 3 --resume runs/" + cv_folder().filename().string()).err,
            "error: --repeats: runs/" + cv_folder().filename().string() +
                " was started with 2, got 3; remove this option\n");
  fs::remove_all(cv_folder() / before["runs"][3]["run"].get<std::string>());
  fs::remove(cv_folder() / "out_of_fold.csv");
  const test::ProcessResult again = trainer("cv --resume " + cv_folder().string());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(results()["mean"], before["mean"]);
  EXPECT_EQ(test::read_file(cv_folder() / "out_of_fold.csv"), predictions);
}

TEST_F(CvTest, FoldsByTimeAreTestedOnWhatComesLater) {
  std::string table = "day,a,y\n";
  for (int day = 40; day > 0; --day) {
    table += std::to_string(20260000 + day) + "," + std::to_string(day % 7) + "," +
             std::to_string(day % 7 * 3) + ".5\n";
  }
  folder_.write("t.csv", table);
  const test::ProcessResult result = trainer(
      "cv --folds 3 --json --epochs 2 --batch-size 4 data.source=csv data.path=t.csv data.target=y "
      "data.split=chronological data.time=day");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto rows = cells_of(read_file(cv_folder() / "out_of_fold.csv"));
  ASSERT_EQ(rows.size(), 31U);  // the first ten days are in no test part
  EXPECT_EQ(rows[1][0], "2");   // the last day stands in the first line
  EXPECT_EQ(rows[1][1], "3");
  EXPECT_EQ(rows[30][0], "31");
  EXPECT_EQ(rows[30][1], "1");
}

TEST_F(CvTest, IsQuietWhenAsked) {
  const test::ProcessResult result = cv("penguins.yaml", "-q --folds 2 --epochs 1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

TEST_F(CvTest, RefusesWhatCannotBeDone) {
  EXPECT_EQ(cv("penguins.yaml", "--folds 1").err,
            "error: --folds: expected an integer >= 2, got \"1\"\n");
  const test::ProcessResult none = trainer("cv");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err,
            "error: cv: expected a configuration, got nothing; try trainer cv --config "
            "configs/train.yaml --folds 5\n");
  const test::ProcessResult few = cv("penguins.yaml", "--folds 100");
  EXPECT_EQ(few.exit_code, 3);
  EXPECT_NE(few.err.find(
                "penguins.csv: column \"species\": the label \"Chinstrap\" has 68 rows, fewer than "
                "the 100 folds, so some fold would lack it; use fewer folds or drop its rows\n"),
            std::string::npos)
      << few.err;
  EXPECT_EQ(cv("penguins.yaml", "--repeats 2 data.split=chronological data.time=island").err,
            "error: --repeats: data.repeat: conflicts with data.split: chronological, which has "
            "only one possible split\n");
  EXPECT_FALSE(fs::exists(folder_.path() / "runs"));
  const test::ProcessResult elsewhere = trainer("cv --resume .");
  EXPECT_EQ(elsewhere.exit_code, 7);
  EXPECT_EQ(elsewhere.err,
            "error: .: expected the folder of a cross-validation, which contains a run folder "
            "ending in _fold_1; found none\n");
}

}  // namespace
}  // namespace trainer
