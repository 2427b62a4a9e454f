// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/report.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

TEST(ReportTest, SaysEverythingOfClasses) {
  const Report report = make_report({kCatOrDog, kFour, {kLogits, 2}}, 0.25);
  EXPECT_EQ(summary_text(report), "accuracy 75.00 %, F1 73.33 %, AUROC 0.8750, loss 0.2500");
  EXPECT_EQ(details_text(report),
            "class  precision    recall       F1  rows\n"
            "cat     100.00 %   50.00 %  66.67 %     2\n"
            "dog      66.67 %  100.00 %  80.00 %     2\n"
            "\n"
            "true \\ predicted  cat  dog\n"
            "cat                 1    1\n"
            "dog                 0    2\n");
  const nlohmann::ordered_json json = to_json(report);
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
  EXPECT_EQ(summary_text(report), "MAE 3, RMSE 3.162, R2 -9.0000, loss 2.5000");
  EXPECT_EQ(details_text(report), "");
}

TEST(ReportTest, SeveralTargetsAreATable) {
  const data::Dataset two = rows({}, {1, 0, 2, 4});
  const Floats outputs = {1, 0, 2, 0};
  const Report report = make_report({targets({"mpg", "kg"}), two, {outputs, 2}}, 1);
  EXPECT_EQ(details_text(report),
            "target  MAE   RMSE       R2\n"
            "mpg       0      0   1.0000\n"
            "kg        4  5.657  -1.0000\n");
  EXPECT_EQ(find_score(report.scores, "r2"), 0.0);
  EXPECT_EQ(to_json(report)["targets"][1]["mae"], 4.0);
}

TEST(ReportTest, ManyClassesAreShownByThePairsThatAreConfusedMost) {
  Names labels;
  for (int i = 0; i < 40; ++i) labels.push_back(fmt::format("class number {}", i));
  Floats logits(3 * 40);
  logits[5] = logits[40 + 5] = logits[80 + 7] = 1;
  const data::Dataset three = rows({4, 4, 7});
  const std::string text = details_text(make_report({classes(labels), three, {logits, 40}}, 1));
  EXPECT_NE(text.find("and 10 more classes\n\n"
                      "most confused        taken for  rows\n"
                      "class number 4  class number 5     2\n"),
            std::string::npos)
      << text;
}

TEST(ReportTest, LongAndOddLabelsStayInTheirCells) {
  const data::Schema schema = classes({"a\nb", std::string(40, 'x')});
  const std::string text = details_text(make_report({schema, kFour, {kLogits, 2}}, 1));
  EXPECT_EQ(text.substr(text.find('\n') + 1, 6), "\"a\\nb\"");
  EXPECT_NE(text.find("\n" + std::string(23, 'x') + "~ "), std::string::npos);
}

TEST(ReportTest, ManyClassesAreRankedOnlyWhenAsked) {
  const data::Schema schema = classes({"a", "b", "c"});
  const data::Dataset three = rows({0, 1, 2});
  const Floats logits = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const Judged judged{schema, three, {logits, 3}};
  EXPECT_FALSE(find_score(scores(judged, Ranking::kOfTwoClasses), "auroc").has_value());
  EXPECT_EQ(find_score(scores(judged, Ranking::kOfAll), "auroc"), 1.0);
}

}  // namespace
}  // namespace trainer::metrics
