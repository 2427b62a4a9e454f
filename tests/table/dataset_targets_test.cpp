// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/config/data_config.h"
#include "trainer/metrics/report.h"
#include "trainer/table/dataset.h"
#include "trainer/table/source/table_reader.h"

#include "support/datasets.h"
#include "support/error_of.h"

namespace trainer::data {
namespace {

using config::DataConfig;
using Floats = std::vector<float>;
using Labels = std::vector<std::string>;

using DatasetTargetsTest = test::DatasetFolderTest;

TEST_F(DatasetTargetsTest, SeveralTargetsAreInTheirOrderAndScaledEachByItself) {
  const Datasets datasets = load_datasets(table("v,a,u\n10,1,1\n30,2,3\n", {"u", "v"}), 1);
  const Schema& schema = datasets.schema;
  EXPECT_EQ(schema.task, config::Task::kRegression);
  EXPECT_EQ(schema.target_names, (std::vector<std::string>{"u", "v"}));
  EXPECT_EQ(schema.num_outputs(config::Loss::kAuto), 2);
  EXPECT_EQ(schema.target_scaling.shift, (Floats{2, 20}));
  EXPECT_EQ(schema.target_scaling.scale, (Floats{1, 0.1F}));
  EXPECT_EQ(datasets.train.values, (Floats{-1, -1, 1, 1}));
}

TEST_F(DatasetTargetsTest, TargetsOfAllPartsAreScaledAsThoseOfTheTrainingPart) {
  DataConfig data = table("a,y\n1,1.5\n2,3.5\n");
  data.test_path = folder_.write("test.csv", "y,a\n4.5,1\n").string();
  EXPECT_EQ(load_datasets(data, 1).test.values, Floats{2});
}

TEST_F(DatasetTargetsTest, WhatIsJudgedKeepsItsTargetsAsTheFileHasThem) {
  DataConfig data = table("a,y\n1,0.1\n2,1000000.25\n3,7\n");
  data.test_path = folder_.write("test.csv", "y,a\n0.001,1\n0,2\n123456.7,3\n").string();
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.test.targets, (std::vector<double>{0.001, 0, 123456.7}));
  EXPECT_EQ(true_values(datasets.schema, datasets.test), (std::vector<double>{0.001, 0, 123456.7}));
  EXPECT_TRUE(datasets.train.targets.empty());
  EXPECT_NEAR(true_values(datasets.schema, datasets.train)[1], 1000000.25, 0.1);
}

/// The scores of `outputs` `[9]` for these targets, scaled as those of the training split, which
/// are the same.
metrics::Report report_of(DataConfig data, const std::string& rows,
                          const test::TemporaryFolder& in) {
  data.test_path = in.write("test.csv", rows).string();
  const Datasets datasets = load_datasets(data, 1);
  const Floats outputs = {-0.375F, -0.5F, -0.25F, -0.4375F, -0.375F, -0.3125F, -0.5F, 0.5F, 2.75F};
  return metrics::make_report({datasets.schema, datasets.test, {outputs, 1}}, 0);
}

double score_of(const metrics::Report& report, const std::string& name) {
  return metrics::find_score(report.scores, name).value();
}

// Of scikit-learn 1.7 for the same predictions.
TEST_F(DatasetTargetsTest, MetricsAreOfTheTargetsOfTheFile) {
  const std::string wide =
      "a,y\n1,0.001\n2,0.0123\n3,0.25\n4,1.5\n5,37.25\n6,512.75\n7,8192.125\n8,250000.5\n"
      "9,1000000\n";
  const metrics::Report report = report_of(table(wide), wide, folder_);
  EXPECT_NEAR(score_of(report, "mape"), 2644656.260527789, 1);
  EXPECT_NEAR(score_of(report, "mae"), 26840.940030512153, 0.01);
  EXPECT_NEAR(score_of(report, "rmse"), 32637.859396804644, 0.01);
  EXPECT_NEAR(score_of(report, "r2"), 0.9891857156321308, 1e-8);
  const std::string zeros = test::replaced(test::replaced(wide, "8192.125", "0"), "0.0123", "0");
  EXPECT_NEAR(score_of(report_of(table(zeros), zeros, folder_), "mape") / 1.818561152813063e19, 1,
              1e-6);
}

TEST_F(DatasetTargetsTest, RefusesSeveralTargetsAsClasses) {
  DataConfig data = table("u,a,v\n1,1,2\n", {"u", "v"});
  data.task = config::Task::kClassification;
  EXPECT_EQ(problem(data),
            "t.csv: 2 targets, but only regression supports several; keep one, or set data.task: "
            "regression");
}

TEST_F(DatasetTargetsTest, NamesTheTargetThatIsWrong) {
  EXPECT_EQ(problem(table("u,a,v\n1.5,1,2\n2.5,2,x\n", {"u", "v"})),
            "t.csv:3: column \"v\": expected a number, got \"x\"; correct it or set data.task: "
            "classification");
  EXPECT_EQ(problem(table("u,a,v\n1.5,1,2\n2.5,2,2\n", {"u", "v"})),
            "t.csv: column \"v\": every row has the value 2; a constant target cannot be learned");
}

TEST_F(DatasetTargetsTest, WeightsAreOneOnAverageInEachPart) {
  DataConfig data = table("a,w,y\n1,1,p\n2,3,q\n3,2,p\n4,0,q\n");
  data.weight = "w";
  data.test_path = folder_.write("test.csv", "w,y,a\n5,p,1\n").string();
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.train.weights, (Floats{3.0F / 6, 9.0F / 6, 6.0F / 6}));
  EXPECT_EQ(datasets.test.weights, Floats{1});
  EXPECT_EQ(datasets.schema.feature_names, std::vector<std::string>{"a"});
}

TEST_F(DatasetTargetsTest, BalancedClassesCountAlike) {
  DataConfig data = table("a,y\n1,p\n2,p\n3,p\n4,q\n");
  data.class_weights = config::ClassWeights::kBalanced;
  const Floats third = Floats(3, 4.0F / 6);
  Floats expected = third;
  expected.push_back(2);
  EXPECT_EQ(load_datasets(data, 1).train.weights, expected);
}

// So that the loss of some rows is the same wherever they come from.
TEST_F(DatasetTargetsTest, ClassWeightsBelongToTheTrainingPart) {
  DataConfig data = table("a,y\n1,p\n2,p\n3,p\n4,q\n");
  data.class_weights = config::ClassWeights::kBalanced;
  data.test_path = folder_.write("test.csv", "a,y\n1,p\n2,q\n").string();
  EXPECT_TRUE(load_datasets(data, 1).test.weights.empty());
}

// As pandas writes them when a cell of the column is missing.
TEST_F(DatasetTargetsTest, LabelsAndCategoriesThatAreNumbersAreKnownInAnySpelling) {
  DataConfig data = table("k,y\n3,1\n4,0\n3,1\n");
  data.categorical = {"k"};
  data.test_path = folder_.write("test.csv", "k,y\n4.0,1.0\n+3,0e0\n").string();
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.test.classes, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(std::get<Array<float>>(datasets.test.features.values), (Floats{0, 1, 1, 0}));
  EXPECT_TRUE(datasets.warnings.empty());

  DataConfig texts = table("k,y\n1,1\n2,one\n");
  texts.test_path = folder_.write("test.csv", "k,y\n1,1.0\n").string();
  EXPECT_EQ(problem(texts).substr(0, 54),
            "test.csv:2: column \"y\": the label \"1.0\" does not occur");
}

TEST_F(DatasetTargetsTest, CategoriesAreTheSameOnlyIfTheyAreTheSameNumber) {
  DataConfig data = table("k,y\n20240115000000000,p\n20240115000000008,q\n7,p\n007,q\n");
  data.categorical = {"k"};
  data.test_path =
      folder_
          .write("test.csv",
                 "k,y\n20240115000000009,p\n20240115000000008.0,p\n7.0,p\n007.0,p\n0007,p\n")
          .string();
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.schema.columns[0].categories,
            (Labels{"007", "7", "20240115000000000", "20240115000000008"}));
  EXPECT_EQ(features(datasets.test),
            (Floats{0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(datasets.warnings,
            Labels{"column \"k\": 2 rows of data.test_path have a category that does not occur in "
                   "the training split; treated as unknown (data.unknown_category)"});
}

TEST_F(DatasetTargetsTest, SpellingsOfOneNumberAreOneCategoryAndOneGroup) {
  DataConfig data =
      table("g,k,y\n7,1.0,p\n7.0,1,q\n9007199254740993,2,p\n9007199254740992,2e0,q\n");
  data.categorical = {"k"};
  EXPECT_EQ(load_datasets(data, 1).schema.columns[1].categories, (Labels{"1", "2"}));
  const Table read = read_table({data.path}, {.targets = data.target, .group = "g"});
  EXPECT_EQ(read.groups, (std::vector<int64_t>{0, 0, 1, 2}));
}

TEST_F(DatasetTargetsTest, BooleansAreOneCategoryInAnyCapitals) {
  DataConfig data = table("k,y\nTrue,p\nFalse,q\n");
  data.test_path = folder_.write("test.csv", "k,y\nfalse,p\nTRUE,q\n").string();
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(features(datasets.test), (Floats{1, 0, 0, 1}));
  EXPECT_TRUE(datasets.warnings.empty());
}

TEST_F(DatasetTargetsTest, WarnsWhenRowsAreInTwoSplits) {
  DataConfig data = table("a,y\n1,p\n2,q\n");
  data.test_path = folder_.write("copy.csv", "a,y\n1,p\n2,q\n").string();
  EXPECT_EQ(load_datasets(data, 1).warnings,
            Labels{"data.test_path: " + data.test_path + " has the same content as " + data.path +
                   ", so these rows are in both splits; metrics of rows that were trained on say "
                   "nothing of others"});
}

TEST_F(DatasetTargetsTest, NotesRowNumbers) {
  std::string rows = "id,t,a,y\n";
  for (int i = 0; i < 12; ++i) {
    rows += std::to_string(i * 7919 % 10'007) + ',' + std::to_string(3 + i) + ',' +
            std::to_string(i * i % 5) + (i % 2 == 0 ? ",p\n" : ",q\n");
  }
  const Datasets datasets = load_datasets(table(rows), 1);
  EXPECT_EQ(datasets.notes,
            Labels{"row numbers: \"id\" and \"t\", with a different integer in every row; a model "
                   "learns the order of the file from them: list them in data.id or data.ignore"});
}

TEST_F(DatasetTargetsTest, RefusesBadWeights) {
  for (const auto& [cell, expected] : std::vector<std::pair<std::string, std::string>>{
           {"-1", "expected a weight (a number >= 0), got \"-1\""},
           {"inf", "expected a weight (a number >= 0), got \"inf\""},
           {"x", "expected a weight (a number >= 0), got \"x\""},
           {"", "expected a weight, got an empty field; fill it in or remove the row"}}) {
    DataConfig data = table("a,w,y\n1,1,p\n2," + cell + ",q\n");
    data.weight = "w";
    EXPECT_EQ(problem(data), "t.csv:3: column \"w\": " + expected);
  }
  DataConfig data = table("a,w,y\n1,0,p\n2,0,q\n");
  data.weight = "w";
  EXPECT_EQ(problem(data).substr(problem(data).find(": ") + 2),
            "none of the 2 rows has a weight above 0");
}

TEST_F(DatasetTargetsTest, RowsOfWeightZeroAreAsIfTheyWereNotThere) {
  std::string text = "a,k,when,w,y\n";
  std::string without = text;
  for (int i = 0; i < 90; ++i) {
    const std::string row = fmt::format("{},{},2026-01-{:02},{},{}\n", i * 37 % 90,
                                        i % 3 == 0 ? "p" : "q", 1 + i % 28, 1 + i % 2, 2.5 * i);
    text += row;
    without += row;
    if (i % 9 == 0)
      text += fmt::format("unknown,other{},yesterday,{},x\n", i, i % 2 == 0 ? "0" : "0.0");
  }
  DataConfig data = table(text);
  data.weight = "w";
  const Datasets datasets = load_datasets(data, 1);
  DataConfig other = table(without);
  other.weight = "w";
  const Datasets expected = load_datasets(other, 1);
  EXPECT_EQ(datasets.num_weightless, 10);
  EXPECT_EQ(expected.num_weightless, 0);
  EXPECT_EQ(datasets.schema, expected.schema);
  EXPECT_EQ(datasets.train.values, expected.train.values);
  EXPECT_EQ(datasets.train.weights, expected.train.weights);
  EXPECT_EQ(std::get<Array<float>>(datasets.train.features.values),
            std::get<Array<float>>(expected.train.features.values));
}

TEST_F(DatasetTargetsTest, RefusesClassWeightsOfNumbers) {
  DataConfig data = table("a,y\n1,1.5\n2,2.5\n");
  data.class_weights = config::ClassWeights::kBalanced;
  EXPECT_STREQ(test::error_of([&] { load_datasets(data, 1); }).what(),
               "data.class_weights: balanced requires classes, but the target y is numeric; remove "
               "it or set data.task: classification");
}

TEST_F(DatasetTargetsTest, RefusesAFoldWithoutAClass) {
  DataConfig data = table("a,y\n1,p\n2,p\n3,p\n4,q\n5,q\n");
  data.folds = 3;
  EXPECT_EQ(problem(data),
            "t.csv: column \"y\": the label \"q\" has 2 rows, fewer than the 3 folds, so some fold "
            "would lack it; use fewer folds or drop its rows");
}

TEST_F(DatasetTargetsTest, PredictionsCanBeLimitedToTheTargetsOfTheTrainingSplit) {
  DataConfig data = table("a,y,z\n1,10,0\n2,20,5\n3,60,1\n", {"y", "z"});
  data.task = config::Task::kRegression;
  const std::vector<float> outputs = {-100, 100, 0, 0};
  EXPECT_LT(predicted_values(load_datasets(data, 1).schema, outputs)[0], -1000);
  data.clip_predictions = true;
  const Schema schema = load_datasets(data, 1).schema;
  const std::vector<double> values = predicted_values(schema, outputs);
  EXPECT_NEAR(values[0], 10, 1e-5);
  EXPECT_NEAR(values[1], 5, 1e-5);
  EXPECT_NEAR(values[2], 30, 1e-5);
  EXPECT_NEAR(values[3], 2, 1e-5);
}

}  // namespace
}  // namespace trainer::data
