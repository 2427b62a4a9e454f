// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/run_entry.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/io/folder_lock.h"
#include "trainer/run/folder/history.h"

#include "support/run_folders.h"

namespace trainer::tracking {
namespace {

using test::write_run;

TEST(RunEntryTest, SaysWhatACompleteRunHas) {
  const test::TemporaryFolder runs;
  const auto folder = write_run(
      runs, "a", {.config = "tag: fashion\ntraining: {epochs: 2, learning_rate: 0.01}\n"});
  const RunEntry entry = read_entry(folder).value();
  EXPECT_EQ(entry.name, "a");
  EXPECT_EQ(entry.kind, Kind::kRun);
  EXPECT_EQ(entry.state, State::kComplete);
  EXPECT_EQ(entry.started, "2026-01-02T03:04:05+0000");
  EXPECT_EQ(entry.seconds, 5);
  EXPECT_EQ(entry.epochs, 2);
  EXPECT_EQ(entry.planned_epochs, 2);
  EXPECT_EQ(entry.tag, "fashion");
  EXPECT_EQ(entry.best_metric, "val.loss");
  EXPECT_EQ(entry.best, 0.5);
  EXPECT_EQ(metrics::find_score(entry.metrics, "train.loss"), 0.7);
  EXPECT_EQ(metrics::find_score(entry.metrics, "val.accuracy"), 0.75);
  EXPECT_EQ(metrics::find_score(entry.metrics, "test.f1"), 0.5);
  EXPECT_EQ(metrics::find_score(entry.metrics, "val.rows"), std::nullopt);
  const std::map<std::string, std::string> settings = {{"training.epochs", "2"},
                                                       {"training.learning_rate", "0.01"}};
  EXPECT_EQ(entry.settings, settings);
  EXPECT_EQ(setting(entry, "training.learning_rate"), "0.01");
  EXPECT_EQ(setting(entry, "training.batch_size"), "32");
  EXPECT_EQ(entry.problem, "");
}

// By the metric that the run goes by.
TEST(RunEntryTest, TheBestEpochOfAnIncompleteRunIsFoundInItsRecords) {
  const test::TemporaryFolder runs;
  const auto by_loss = write_run(runs, "loss", {.val_loss = 3, .is_complete = false});
  EXPECT_EQ(read_entry(by_loss)->best, 1);
  const auto by_accuracy = write_run(
      runs, "accuracy",
      {.config = "training: {best_metric: accuracy}\n", .val_loss = 3, .is_complete = false});
  EXPECT_EQ(read_entry(by_accuracy)->best_metric, "val.accuracy");
  EXPECT_EQ(read_entry(by_accuracy)->best, 0.75);
}

// It is computed for the choice of an epoch only, so the scores of the split lack it.
TEST(RunEntryTest, TheBestValueIsThatOfTheSummaryIfTheSplitHasNone) {
  const test::TemporaryFolder runs;
  const auto folder =
      write_run(runs, "a",
                {.config = "recipe: tabm\ndata: {source: csv, path: a.csv, target: y, task: "
                           "classification}\n"});
  runs.write("a/summary.json", R"({"best": {"epoch": 2, "metric": "calibrated_log_loss",
                                            "value": 0.25},
                                   "validation": {"rows": 9, "loss": 0.5}})");
  const RunEntry entry = read_entry(folder).value();
  EXPECT_EQ(entry.problem, "");
  EXPECT_EQ(entry.best_metric, "val.calibrated_log_loss");
  EXPECT_EQ(entry.best, 0.25);
  EXPECT_EQ(metrics::find_score(entry.metrics, "val.calibrated_log_loss"), 0.25);
}

TEST(RunEntryTest, ADamagedFileIsSaidAndTheOtherRunsAreRead) {
  const test::TemporaryFolder runs;
  write_run(runs, "good");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::vector<std::array<std::string, 3>> damages = {
      {"summary.json", R"({"best": {"epoch": null, "value": "x"}, "test": {}})",
       ": best.value: expected a number, got \"x\"; the file is damaged"},
      {"summary.json", R"({"test": [1]})",
       ": test: expected an object, got a list; the file is damaged"},
      {"summary.json", deep,
       ": expected JSON nested at most 100 deep, got something else; the file is damaged"},
      {"system.json", R"({"starts": {"time": 1}})",
       ": starts: expected a list, got an object; the file is damaged"},
      {"system.json", R"({"starts": [{"time": 1}]})",
       ": starts[0].time: expected a text, got 1; the file is damaged"},
      {"metrics.jsonl", R"({"time_seconds": 1, "epoch": 1e300, "split": "train"})",
       ":1: epoch: expected an integer >= 0, got 1e+300; the file is damaged"}};
  for (const auto& [file, text, problem] : damages) {
    const auto folder = write_run(runs, "bad");
    const auto path = runs.write("bad/" + file, text);
    EXPECT_EQ(read_entry(folder)->problem, path.string() + problem);
    EXPECT_EQ(read_entries(runs.path()).size(), 2U);
  }
  write_run(runs, "bad");
  runs.write("bad/metrics.jsonl", deep + "\n");  // a line that is no record
  EXPECT_EQ(read_entry(runs.path() / "bad")->problem, "");
}

TEST(RunEntryTest, ADamagedSeriesOrIndexIsSaid) {
  const test::TemporaryFolder runs;
  write_run(runs, "x_cv/fold_1");
  const auto cv = runs.write("x_cv/cv.json", R"({"folds": 1e300, "repeats": 3})");
  EXPECT_EQ(read_entry(runs.path() / "x_cv")->problem,
            cv.string() +
                ": folds: expected an integer from 0 to 1000000, got 1e+300; the file is "
                "damaged");
  runs.write("x_cv/cv.json", R"({"folds": "x"})");
  EXPECT_NE(read_entry(runs.path() / "x_cv")->problem, "");
  write_run(runs, "y_ensemble/member_1");
  runs.write("y_ensemble/ensemble.json", R"({"members": "x"})");
  EXPECT_NE(read_entry(runs.path() / "y_ensemble")->problem, "");
  runs.write(".runs.json", R"({"program": 5})");
  EXPECT_EQ(read_entries(runs.path()).size(), 2U);
}

TEST(RunEntryTest, APlannedSeriesIsCountedBeforeItsFirstRunIsComplete) {
  const test::TemporaryFolder runs;
  const std::string data = "data: {source: csv, path: a.csv, target: y, ";
  write_run(runs, "x_cv/fold_1", {.config = data + "folds: 3}\n", .is_complete = false});
  EXPECT_EQ(read_entry(runs.path() / "x_cv")->planned_epochs, 3);
  write_run(
      runs, "y_cv/fold_1",
      {.config = "tag: a_fold_1_repeat_1_of_4\n" + data + "folds: 3}\n", .is_complete = false});
  EXPECT_EQ(read_entry(runs.path() / "y_cv")->planned_epochs, 12);
  write_run(runs, "z_ensemble/member_1",
            {.config = data + "validation_folds: 5}\n", .is_complete = false});
  EXPECT_EQ(read_entry(runs.path() / "z_ensemble")->planned_epochs, 5);
}

TEST(RunEntryTest, KnowsWhoWorksOnItAndHowItEnded) {
  const test::TemporaryFolder runs;
  const auto folder = write_run(runs, "a", {.is_complete = false});
  EXPECT_EQ(read_entry(folder)->state, State::kKilled);
  run::write_end(folder, run::End::kStopped, "SIGTERM");
  EXPECT_EQ(read_entry(folder)->state, State::kStopped);
  EXPECT_EQ(read_entry(folder)->reason, "SIGTERM");
  run::write_end(folder, run::End::kFailed, "out of memory");
  EXPECT_EQ(read_entry(folder)->state, State::kFailed);
  EXPECT_EQ(read_entry(folder)->reason, "out of memory");
  const FolderLock lock(folder);
  EXPECT_EQ(read_entry(folder)->state, State::kRunning);
}

TEST(RunEntryTest, WhatIsMissingOrDamagedIsLeftOut) {
  const test::TemporaryFolder runs;
  runs.write("half/config_resolved.yaml", "training: {epochs: 7}\n");
  const RunEntry half = read_entry(runs.path() / "half").value();
  EXPECT_EQ(half.state, State::kKilled);
  EXPECT_EQ(half.planned_epochs, 7);
  EXPECT_EQ(half.best, std::nullopt);
  // As a newer version may write it.
  const auto newer = write_run(runs, "newer", {.config = "training: {thrust: 2}\n"});
  const RunEntry entry = read_entry(newer).value();
  EXPECT_EQ(
      entry.problem.substr(entry.problem.find("config_resolved.yaml")),
      "config_resolved.yaml:1: training.thrust: unknown key; did you mean \"training.loss\"?");
  EXPECT_EQ(entry.best, 0.5);
  // A record that is being written.
  runs.write("newer/metrics.jsonl",
             R"({"step":2,"epoch":1,"split":"train","loss":null,"time_seconds":2,)");
  EXPECT_EQ(read_entry(newer)->epochs, 0);
}

TEST(RunEntryTest, OfACrossValidationItHasTheMeans) {
  const test::TemporaryFolder runs;
  const std::string config = "data: {folds: 3, fold: 1}\n";
  write_run(runs, "20260102_030405_iris_cv/20260102_030405_fold_1", {.config = config});
  write_run(runs, "20260102_030405_iris_cv/20260102_030406_fold_2", {.config = config});
  const auto folder = runs.path() / "20260102_030405_iris_cv";
  RunEntry entry = read_entry(folder).value();  // before the first fold is complete
  EXPECT_EQ(entry.kind, Kind::kCrossValidation);
  EXPECT_EQ(entry.state, State::kKilled);
  runs.write("20260102_030405_iris_cv/cv.json",
             R"({"folds":3,"runs":[{},{}],"mean":{"loss":0.25,"accuracy":0.9}})");
  entry = read_entry(folder).value();
  EXPECT_EQ(entry.state, State::kKilled);
  EXPECT_EQ(entry.epochs, 2);
  EXPECT_EQ(entry.planned_epochs, 3);
  EXPECT_EQ(entry.tag, "iris");
  EXPECT_EQ(entry.seconds, 10);
  EXPECT_EQ(entry.best_metric, "test.loss");
  EXPECT_EQ(entry.best, 0.25);
  EXPECT_EQ(setting(entry, "data.folds"), "3");
  EXPECT_FALSE(entry.settings.contains("data.fold"));
  runs.write("20260102_030405_iris_cv/cv.json", R"({"folds":2,"runs":[{},{}],"mean":{}})");
  EXPECT_EQ(read_entry(folder)->state, State::kComplete);
}

TEST(RunEntryTest, OfAnEnsembleItHasTheMetricsOfAllMembers) {
  const test::TemporaryFolder runs;
  write_run(runs, "e/20260102_030405_member_1");
  runs.write("e/ensemble.json", R"({"members":1,"runs":["20260102_030405_member_1"]})");
  runs.write("e/summary.json", R"({"test":{"loss":0.125}})");
  const RunEntry entry = read_entry(runs.path() / "e").value();
  EXPECT_EQ(entry.kind, Kind::kEnsemble);
  EXPECT_EQ(entry.state, State::kComplete);
  EXPECT_EQ(entry.best, 0.125);
}

TEST(RunEntryTest, AnotherFolderIsNone) {
  const test::TemporaryFolder folder;
  folder.write("a/notes.txt", "");
  EXPECT_FALSE(read_entry(folder.path() / "a").has_value());
  EXPECT_FALSE(read_entry(folder.path() / "b").has_value());
}

TEST(RunIndexTest, ListsTheNewestFirstAndNothingButRuns) {
  const test::TemporaryFolder runs;
  write_run(runs, "a", {.started = "2026-01-02T03:04:05+0000"});
  write_run(runs, "b", {.started = "2026-01-03T03:04:05+0000"});
  write_run(runs, ".removed_c");
  runs.write("d/notes.txt", "");
  std::filesystem::create_directory_symlink("b", runs.path() / "latest");
  const std::vector<RunEntry> entries = read_entries(runs.path());
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].name, "b");
  EXPECT_EQ(entries[1].name, "a");
}

TEST(RunIndexTest, WhatHasNotChangedIsNotReadAgain) {
  const test::TemporaryFolder runs;
  write_run(runs, "a", {.val_loss = 0.5});
  EXPECT_EQ(read_entries(runs.path()).front().best, 0.5);
  // The cache is told from the file by a value that only it has.
  const auto index = runs.path() / ".runs.json";
  std::ifstream file(index);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string other = text;
  other.replace(other.find("\"val.loss\":0.5"), 14, "\"val.loss\":0.1");
  runs.write(".runs.json", other);
  EXPECT_EQ(read_entries(runs.path()).front().best, 0.1);
  write_run(runs, "a", {.val_loss = 0.25});
  EXPECT_EQ(read_entries(runs.path()).front().best, 0.25);
  for (const char* damaged : {"", "{\"runs\": 3}", "[]"}) {
    runs.write(".runs.json", damaged);
    EXPECT_EQ(read_entries(runs.path()).front().best, 0.25) << damaged;
  }
}

TEST(RunIndexTest, WhoWorksOnARunIsAskedEachTime) {
  const test::TemporaryFolder runs;
  const auto folder = write_run(runs, "a");
  EXPECT_EQ(read_entries(runs.path()).front().state, State::kComplete);
  {
    const FolderLock lock(folder);
    EXPECT_EQ(read_entries(runs.path()).front().state, State::kRunning);
  }
  EXPECT_EQ(read_entries(runs.path()).front().state, State::kComplete);
}

}  // namespace
}  // namespace trainer::tracking
