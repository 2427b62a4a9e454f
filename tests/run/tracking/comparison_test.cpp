// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/comparison.h"

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

}  // namespace
}  // namespace trainer::tracking
