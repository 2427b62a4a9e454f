// SPDX-License-Identifier: Apache-2.0

#include "trainer/run/tracking/comparison.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"
#include "trainer/run/tracking/run_document.h"
#include "trainer/run/tracking/run_list.h"

#include "support/run_folders.h"

namespace trainer::tracking {
namespace {

using test::write_run;

class ComparisonTest : public ::testing::Test {
 protected:
  ComparisonTest() {
    write_run(runs_, "a", {.config = "training: {epochs: 2, learning_rate: 0.01}\n"});
    write_run(runs_, "b", {.config = "tag: xyz\ntraining: {epochs: 2}\n", .val_loss = 0.25});
    runs_.write("b/note.txt", "the, good one\n");
  }
  std::vector<RunEntry> entries() const {
    return {read_entry(runs_.path() / "a").value(), read_entry(runs_.path() / "b").value()};
  }
  const test::TemporaryFolder runs_;
};

TEST_F(ComparisonTest, HasWhatDiffersAndAllMetrics) {
  EXPECT_EQ(comparison_text(compare(entries(), false), ListFormat::kText),
            "A           a\n"
            "B           b  (the, good one)\n"
            "\n"
            "                               A           B\n"
            "state                   complete    complete\n"
            "epochs                       2/2         2/2\n"
            "tag                            -         xyz\n"
            "training.learning_rate      0.01       0.001\n"
            "train.loss                0.7000      0.7000\n"
            "train.accuracy           80.00 %     80.00 %\n"
            "val.loss                  0.5000      0.2500 *\n"
            "val.accuracy             75.00 %     75.00 %\n"
            "test.loss                 0.5000      0.2500 *\n"
            "test.f1                  50.00 %     50.00 %\n"
            "loss 0.2500 .. 1.0000         #:          #_\n"
            "\n"
            "One run of each says little: other seeds alone make a difference. Compare two\n"
            "cross-validations (trainer cv), or several runs of each with other seeds.\n");
}

TEST_F(ComparisonTest, NoRunIsTheBestIfAnotherHasTheSameValue) {
  const auto best_of_losses = [&](double a, double b, double c) {
    std::vector<RunEntry> runs;
    for (const double loss : {a, b, c}) {
      write_run(runs_, "x", {.config = "training: {epochs: 2}\n", .val_loss = loss});
      runs.push_back(read_entry(runs_.path() / "x").value());
    }
    for (const ComparedRow& row : compare(runs, false).metrics) {
      if (row.name == "val.loss") return row.best;
    }
    return std::optional<std::size_t>();
  };
  EXPECT_EQ(best_of_losses(0.5, 0.25, 0.75), 1U);
  EXPECT_EQ(best_of_losses(0.25, 0.5, 0.25), std::nullopt);
  EXPECT_EQ(best_of_losses(0.25, 0.25, 0.75), std::nullopt);
  EXPECT_EQ(best_of_losses(0.5, 0.5, 0.25), 2U);
}

TEST_F(ComparisonTest, LossesOfDifferentKindsAreNotCompared) {
  for (const char* key : {"label_smoothing: 0.1", "loss: binary_cross_entropy"}) {
    write_run(runs_, "c", {.config = fmt::format("training: {{epochs: 2, {}}}\n", key)});
    const Comparison comparison =
        compare({entries().front(), read_entry(runs_.path() / "c").value()}, false);
    std::vector<std::string> names;
    for (const ComparedRow& row : comparison.metrics) names.push_back(row.name);
    EXPECT_EQ(names, (std::vector<std::string>{"train.accuracy", "val.accuracy", "test.f1"}));
    EXPECT_TRUE(comparison.curves.empty());
  }
}

TEST_F(ComparisonTest, IsATableForOtherPrograms) {
  const Comparison comparison = compare(entries(), false);
  const std::string csv = comparison_text(comparison, ListFormat::kCsv);
  EXPECT_TRUE(csv.starts_with(",a,b\nstate,complete,complete\n")) << csv;
  const std::string markdown = comparison_text(comparison, ListFormat::kMarkdown);
  EXPECT_TRUE(markdown.starts_with("|  | a | b |\n|---|---:|---:|\n")) << markdown;
  const Json json = parse_json(comparison_text(comparison, ListFormat::kJson));
  EXPECT_EQ(json["runs"][1]["metrics"]["val.loss"], 0.25);
  EXPECT_EQ(json["settings"]["training.learning_rate"], Json({"0.01", "0.001"}));
  EXPECT_FALSE(json.contains("differences"));
}

TEST_F(ComparisonTest, AListHasARowForEachRun) {
  const std::vector<RunEntry> all = entries();
  const std::vector<std::string> columns = usual_columns(all);
  EXPECT_EQ(list_text(all, columns, ListFormat::kText),
            "name  state     epochs             best   time  tag  note\n"
            "a     complete     2/2  val.loss 0.5000  5.0 s  -    -\n"
            "b     complete     2/2  val.loss 0.2500  5.0 s  xyz  the, good one\n");
  runs_.write("b/note.txt", "a | b");
  EXPECT_EQ(list_text(entries(), {"name", "note"}, ListFormat::kMarkdown),
            "| name | note |\n|---|---|\n| a | - |\n| b | a \\| b |\n");
  const std::string csv = list_text(all, columns, ListFormat::kCsv);
  EXPECT_NE(csv.find("\nb,run,complete,2026-01-02T03:04:05+0000,5,2,2,xyz,\"the, good one\","),
            std::string::npos)
      << csv;
  EXPECT_EQ(parse_json(list_text(all, columns, ListFormat::kJson))[1]["note"], "the, good one");
}

TEST_F(ComparisonTest, OneRunIsShownWithItsMetricsBySplit) {
  const std::string text = run_document(entries()[0]).text();
  EXPECT_NE(text.find("settings    training.epochs         2  (default 10)\n"
                      "            training.learning_rate  0.01  (default 0.001)\n"
                      "\n"
                      "metric      train      val     test\n"
                      "loss       0.7000   0.5000   0.5000\n"
                      "accuracy  80.00 %  75.00 %        -\n"
                      "F1              -        -  50.00 %\n"),
            std::string::npos)
      << text;
  const Json json = run_document(entries()[0]).json();
  EXPECT_EQ(json["epochs_done"][1]["val"]["accuracy"], 0.75);
  EXPECT_EQ(json["starts"][0]["device"], "cpu");
}

// Differences 1, 2, 3: mean 2, variance 1; of three folds 1/3 + 1/2; t of two degrees 4.303.
TEST(DifferenceTest, OfFoldsIsWiderThanOfIndependentRuns) {
  const std::array differences = {1.0, 2.0, 3.0};
  const Difference d = paired_difference(differences, 3);
  EXPECT_DOUBLE_EQ(d.value, 2);
  EXPECT_NEAR(d.high - d.value, 4.303 * std::sqrt(1.0 / 3 + 0.5), 1e-12);
  EXPECT_NEAR(d.value - d.low, d.high - d.value, 1e-12);
  EXPECT_TRUE(d.is_noise());
}

// scipy.stats.ttest_ind([1, 2, 4], [5, 6, 9, 8], equal_var=False): df 4.79.. -> 4.
TEST(DifferenceTest, OfMeansIsWelchs) {
  const std::array first = {1.0, 2.0, 4.0};
  const std::array second = {5.0, 6.0, 9.0, 8.0};
  const Difference d = difference_of_means(first, second);
  EXPECT_NEAR(d.value, 7 - 7.0 / 3, 1e-12);
  const double error = std::sqrt((7.0 / 3) / 3 + (10.0 / 3) / 4);
  EXPECT_NEAR(d.high - d.value, 2.776 * error, 1e-12);
  EXPECT_FALSE(d.is_noise());
}

TEST(DifferenceTest, EqualRunsDifferByNothing) {
  const std::array values = {1.0, 1.0};
  const Difference d = difference_of_means(values, values);
  EXPECT_EQ(d.value, 0);
  EXPECT_TRUE(d.is_noise());
}

// Their degrees of freedom are infinite: a file that somebody has changed may have them.
TEST(DifferenceTest, TheLargestNumbersAreAsOfManyRuns) {
  const std::array values = {0.0, 1.8e77};
  const Difference d = difference_of_means(values, values);
  EXPECT_EQ(d.value, 0);
  EXPECT_NEAR(d.high / 1.8e77, 1.959964 * std::sqrt(0.5), 1e-12);
}

RunEntry make_run(const std::string& seed, const std::string& rate, double accuracy) {
  RunEntry entry;
  entry.settings = {{"training.learning_rate", rate}};
  if (!seed.empty()) entry.settings["seed"] = seed;
  entry.metrics = {{"val.accuracy", accuracy}};
  return entry;
}

TEST(DifferenceTest, RunsThatDifferInTheSeedOnlyAreOneGroup) {
  const std::vector<RunEntry> runs = {make_run("", "0.1", 0.5), make_run("1", "0.1", 0.51),
                                      make_run("", "0.2", 0.7), make_run("1", "0.2", 0.71),
                                      make_run("2", "0.2", 0.72)};
  const Differences found = find_differences(runs).value();
  EXPECT_EQ(found.over, "2 and 3 runs with other seeds");
  ASSERT_EQ(found.metrics.size(), 1U);
  EXPECT_NEAR(found.metrics[0].value, 0.205, 1e-12);
  EXPECT_FALSE(found.metrics[0].is_noise());
  EXPECT_FALSE(find_differences(std::span(runs).first(3)).has_value());
}

TEST(DifferenceTest, FoldsOfTwoCrossValidationsArePairs) {
  const test::TemporaryFolder runs;
  const auto write = [&](const std::string& name, const std::string& runs_json) {
    test::write_run(runs, name + "/20260102_030405_fold_1", {.config = "data: {folds: 2}\n"});
    runs.write(name + "/cv.json",
               R"({"folds":2,"runs":)" + runs_json + R"(,"mean":{"accuracy":0.5}})");
    return read_entry(runs.path() / name).value();
  };
  std::vector<RunEntry> entries = {
      write("a_cv", R"([{"fold":1,"accuracy":0.5},{"fold":2,"accuracy":0.7}])"),
      write("b_cv", R"([{"fold":2,"accuracy":0.8},{"fold":1,"accuracy":0.6}])")};
  const Differences found = find_differences(entries).value();
  EXPECT_EQ(found.over, "2 folds");
  EXPECT_EQ(found.metrics[0].metric, "test.accuracy");
  EXPECT_NEAR(found.metrics[0].value, 0.1, 1e-12);
  EXPECT_FALSE(found.metrics[0].is_noise());  // by as much on each fold
  entries[1].settings["seed"] = "7";          // other rows in the folds
  EXPECT_FALSE(find_differences(entries).has_value());
}

}  // namespace

}  // namespace trainer::tracking
