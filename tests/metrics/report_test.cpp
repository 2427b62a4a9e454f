// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/report.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

namespace trainer::metrics {
namespace {

using Floats = std::vector<float>;
using Names = std::vector<std::string>;

data::Schema classes(const Names& labels) {
  data::Schema schema;
  schema.target_names = {"kind"};
  schema.labels = labels;
  return schema;
}

data::Schema targets(const Names& names) {
  data::Schema schema;
  schema.task = config::Task::kRegression;
  schema.target_names = names;
  schema.target_scaling = {Floats(names.size(), 10.0F), Floats(names.size(), 0.5F)};
  return schema;
}

data::Dataset rows(std::vector<int64_t> labels, Floats values = {}) {
  data::Dataset dataset;
  dataset.classes = std::move(labels);
  dataset.values = std::move(values);
  return dataset;
}

const data::Schema kCatOrDog = classes({"cat", "dog"});
const data::Dataset kFour = rows({0, 0, 1, 1});
const Floats kLogits = {2, 1, 1, 2, 0, 1, 1, 3};

std::string text_of(const Report& report) { return scores_document("test", report).text(); }

TEST(ReportTest, SaysEverythingOfClasses) {
  const Report report = make_report({kCatOrDog, kFour, {kLogits, 2}}, 0.25);
  EXPECT_EQ(text_of(report).substr(0, 53),
            "metric                test\naccuracy           75.00 %");
  EXPECT_EQ(details_document(report, "test split:").text().substr(0, 18), "test split:\n\nclass");
  EXPECT_EQ(details_document(report).text(),
            "class  precision    recall       F1  rows\n"
            "cat     100.00 %   50.00 %  66.67 %     2\n"
            "dog      66.67 %  100.00 %  80.00 %     2\n"
            "\n"
            "true \\ predicted  cat  dog\n"
            "cat                 1    1\n"
            "dog                 0    2\n");
  const Json json = to_json(report);
  EXPECT_EQ(json["rows"], 4);
  EXPECT_EQ(json["accuracy"], 0.75);
  EXPECT_EQ(json["classes"][0]["label"], "cat");
  EXPECT_EQ(json["classes"][0]["recall"], 0.5);
  EXPECT_EQ(json["confusion_matrix"].dump(), R"({"labels":["cat","dog"],"counts":[[1,1],[0,2]]})");
  EXPECT_FALSE(json.contains("targets"));
}

TEST(ReportTest, ScoresOfARegressionAreInTheUnitsOfTheFile) {
  // 14 for 12, and 10 for 14, as (y - 10) / 2.
  const data::Dataset two = rows({}, {1, 2});
  const Floats outputs = {2, 0};
  const Report report = make_report({targets({"mpg"}), two, {outputs, 1}}, 2.5);
  EXPECT_EQ(text_of(report),
            "metric     test\n"
            "MAE           3\n"
            "RMSE      3.162\n"
            "MAPE    22.62 %\n"
            "R2      -9.0000\n"
            "loss     2.5000\n");
  EXPECT_EQ(details_document(report).text(), "");
}

TEST(ReportTest, TheBaselineIsTheMostFrequentClassOfTheTrainingPart) {
  data::Schema schema = kCatOrDog;
  schema.target_means = {0.25, 0.75};
  const Floats outputs = {2, 1, 1, 2, 1, 0, 1, 3};  // half of them right
  const Report report = make_report({schema, kFour, {outputs, 2}}, 0.25);
  EXPECT_EQ(text_of(report),
            "metric                test  baseline\n"
            "accuracy           50.00 %   50.00 %\n"
            "F1                 50.00 %   33.33 %\n"
            "AUROC               0.6250    0.5000\n"
            "balanced accuracy  50.00 %   50.00 %\n"
            "binary F1          50.00 %   66.67 %\n"
            "PR-AUC              0.7500    0.5000\n"
            "log loss            0.7667    0.8370\n"
            "Brier score         0.2889\n"
            "calibration error   0.3281\n"
            "loss                0.2500\n"
            "baseline: always \"dog\"\n"
            "the model does not beat the baseline in accuracy\n");
  EXPECT_EQ(to_json(report)["baseline"]["accuracy"], 0.5);
  schema.target_means = {};  // a model of an older version
  const Report old = make_report({schema, kFour, {outputs, 2}}, 0.25);
  EXPECT_FALSE(old.baseline.has_value());
  EXPECT_FALSE(to_json(old).contains("baseline"));
}

TEST(ReportTest, TheBaselineOfARegressionIsTheMeanOfTheTrainingPart) {
  data::Schema schema = targets({"mpg"});
  schema.target_means = {13};
  // 12 and 14.
  const data::Dataset two = rows({}, {1, 2});
  const Floats outputs = {1, 2};
  const Report report = make_report({schema, two, {outputs, 1}}, 0);
  EXPECT_EQ(text_of(report),
            "metric    test  baseline\n"
            "MAE          0         1\n"
            "RMSE         0         1\n"
            "MAPE    0.00 %    7.74 %\n"
            "R2      1.0000    0.0000\n"
            "loss    0.0000\n"
            "baseline: always the mean\n");
  EXPECT_EQ(
      scores_document("test", report, {{"validation", all_scores(report)}}).text().substr(0, 39),
      "metric  validation    test  baseline\nMA");
}

TEST(ReportTest, LeavesOutWhatIsNotDefined) {
  // A single row, whose target is 0: no R2 and no MAPE.
  const data::Dataset one = rows({}, {-5});
  const Floats outputs = {1};
  const Report report = make_report({targets({"mpg"}), one, {outputs, 1}}, 0.5);
  EXPECT_EQ(text_of(report),
            "metric    test\n"
            "MAE         12\n"
            "RMSE        12\n"
            "loss    0.5000\n");
  EXPECT_EQ(to_json(report)["r2"].dump(), "null");
}

TEST(ScoreTest, NumbersAreWrittenOut) {
  EXPECT_EQ(number_text(15394.4), "15,394");
  EXPECT_EQ(number_text(999.94), "999.9");
  EXPECT_EQ(number_text(999.96), "1,000");
  EXPECT_EQ(number_text(0.00123456), "0.001235");
  EXPECT_EQ(number_text(1.5e-7), "1.5e-07");
  EXPECT_EQ(number_text(3.2e34), "3.2e+34");
  EXPECT_EQ(number_text(-15394.4), "-15,394");
}

TEST(ScoreTest, OnlyAllIsAHundredPercentAndOnlyNoneIsZero) {
  EXPECT_EQ(percent_text(1), "100.00 %");
  EXPECT_EQ(percent_text(0.99999), "99.99 %");
  EXPECT_EQ(percent_text(0.0001), "0.01 %");
  EXPECT_EQ(percent_text(0.00001), "0.001 %");
  EXPECT_EQ(percent_text(4e-10), "4e-08 %");
  EXPECT_EQ(percent_text(0), "0.00 %");
}

TEST(ReportTest, SeveralTargetsAreATable) {
  const data::Dataset two = rows({}, {1, 0, 2, 4});
  const Floats outputs = {1, 0, 2, 0};
  const Report report = make_report({targets({"mpg", "kg"}), two, {outputs, 2}}, 1);
  EXPECT_EQ(details_document(report).text(),
            "target  MAE   RMSE       R2\n"
            "mpg       0      0   1.0000\n"
            "kg        4  5.657  -1.0000\n");
  EXPECT_EQ(find_score(report.scores, "r2"), 0.0);
  EXPECT_EQ(to_json(report)["targets"][1]["mae"], 4.0);
}

TEST(ReportTest, ManyClassesAreShownByThePairsThatAreConfusedMost) {
  Names labels;
  for (int i = 0; i < 40; ++i) labels.push_back(fmt::format("class number {}", i));
  Floats logits(size_t{3} * 40);
  logits[5] = logits[40 + 5] = logits[80 + 7] = 1;
  const data::Dataset three = rows({4, 4, 7});
  const std::string text =
      details_document(make_report({classes(labels), three, {logits, 40}}, 1)).text();
  EXPECT_NE(text.find("and 10 more classes\n\n"
                      "most confused   predicted as    rows\n"
                      "class number 4  class number 5     2\n"),
            std::string::npos)
      << text;
}

TEST(ReportTest, OfVeryManyClassesTheMatrixHasTheCountsThatAreNotZero) {
  Report report;
  report.num_rows = 5;
  for (int i = 0; i < 1001; ++i) report.labels.push_back(std::to_string(i));
  report.confusion = confusion_matrix(std::vector<int64_t>{0, 7, 7, 1000, 1000},
                                      std::vector<int64_t>{0, 9, 9, 1000, 3}, 1001);
  report.classes = class_scores(report.confusion);
  const Json matrix = to_json(report)["confusion_matrix"];
  EXPECT_EQ(matrix["labels"].size(), 1001U);
  EXPECT_FALSE(matrix.contains("counts"));
  EXPECT_EQ(matrix["cells"], Json({{0, 0, 1}, {7, 9, 2}, {1000, 3, 1}, {1000, 1000, 1}}));
  EXPECT_NE(details_document(report).text().find("\nmost confused  predicted as  rows\n"),
            std::string::npos);
}

TEST(ReportTest, LongAndOddLabelsStayInTheirCells) {
  const data::Schema schema = classes({"a\nb", std::string(40, 'x')});
  const std::string text = details_document(make_report({schema, kFour, {kLogits, 2}}, 1)).text();
  EXPECT_EQ(text.substr(text.find('\n') + 1, 6), "\"a\\nb\"");
  EXPECT_NE(text.find("\n" + std::string(21, 'x') + "... "), std::string::npos);
}

TEST(ReportTest, ManyClassesAreRankedOnlyWhenAsked) {
  const data::Schema schema = classes({"a", "b", "c"});
  const data::Dataset three = rows({0, 1, 2});
  const Floats logits = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const LabelledOutputs labelled{schema, three, {logits, 3}};
  EXPECT_FALSE(find_score(scores(labelled, Ranking::kOfTwoClasses), "auroc").has_value());
  EXPECT_EQ(find_score(scores(labelled, Ranking::kOfAll), "auroc"), 1.0);
}

}  // namespace
}  // namespace trainer::metrics
