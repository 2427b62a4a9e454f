// SPDX-License-Identifier: Apache-2.0

#include "trainer/table/schema/target.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/config/data_config.h"
#include "trainer/table/dataset.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::data {
namespace {

using Lines = std::vector<std::string>;

class TargetCopiesTest : public ::testing::Test {
 protected:
  Lines copies(int num_rows, const std::string& header,
               const std::function<std::string(int)>& row) {
    std::string text = header + "\n";
    for (int i = 0; i < num_rows; ++i) text += row(i) + "\n";
    config::DataConfig data;
    data.source = config::Source::kCsv;
    data.path = folder_.write("t.csv", text).string();
    data.target = {"y"};
    const Datasets datasets = load_datasets(data, 1);
    for (const std::string& line : datasets.target_copies) {
      EXPECT_NE(std::find(datasets.warnings.begin(), datasets.warnings.end(), line),
                datasets.warnings.end());
    }
    return datasets.target_copies;
  }

  static std::string line(const std::string& names) {
    return "copies of the target (leakage): " + names +
           "; use data.ignore to drop columns that are not known before the target";
  }

  test::TemporaryFolder folder_;
};

TEST_F(TargetCopiesTest, ColumnsWithAValueForEachClassAreNamed) {
  const std::vector<std::string> labels = {"cat", "dog", "fox"};
  const auto row = [&](int i) {
    const auto label = static_cast<size_t>(i * 7 % 3);
    return fmt::format("{},{},{},{},{}", i, label, i == 5 ? "" : labels[2 - label],
                       label == 0 ? 1 : 0, labels[label]);
  };
  EXPECT_EQ(copies(60, "i,number,text,first,y", row), Lines{line("\"number\" and \"text\"")});
  EXPECT_EQ(copies(19, "i,number,text,first,y", row), Lines{});  // by chance
}

TEST_F(TargetCopiesTest, LinesThroughATargetOfARegressionAreNamed) {
  const auto row = [](int i) {
    const double celsius = i * 37 % 101 + 0.25;
    return fmt::format("{},{:.1f},{},{}", i, celsius * 1.8 + 32, celsius + i % 2 * 0.5, celsius);
  };
  EXPECT_EQ(copies(100, "i,fahrenheit,measured_again,y", row), Lines{line("\"fahrenheit\"")});
}

class PositiveTest : public ::testing::Test {
 protected:
  Datasets load(const std::string& classes, const std::string& positive) {
    std::istringstream words(classes);
    std::string text = "x,y\n";
    std::vector<std::string> labels;
    for (std::string word; words >> word;) labels.push_back(word);
    for (std::size_t i = 0; i < 60; ++i) {
      text += fmt::format("{},{}\n", i, labels[i * 7 % labels.size()]);
    }
    config::DataConfig data;
    data.source = config::Source::kCsv;
    data.path = folder_.write("t.csv", text).string();
    data.target = {"y"};
    data.positive = positive;
    return load_datasets(data, 1);
  }

  std::string error_of(const std::string& classes, const std::string& positive) {
    return test::message_of(ErrorKind::kData, [&] { load(classes, positive); });
  }

  test::TemporaryFolder folder_;
};

TEST_F(PositiveTest, IsTheSecondOfTwoClasses) {
  const Datasets usual = load("good bad", "");
  EXPECT_EQ(usual.schema.labels, Lines({"bad", "good"}));
  const Datasets same = load("good bad", "good");
  EXPECT_EQ(same.schema, usual.schema);
  const Datasets other = load("good bad", "bad");
  EXPECT_EQ(other.schema.labels, Lines({"good", "bad"}));
  ASSERT_EQ(other.train.size(), usual.train.size());
  for (std::size_t i = 0; i < usual.train.classes.size(); ++i) {
    EXPECT_EQ(other.train.classes[i], 1 - usual.train.classes[i]);
  }
  EXPECT_EQ(other.schema.target_means[0], usual.schema.target_means[1]);
  EXPECT_EQ(load("1 0", "0.0").schema.labels, Lines({"1", "0"}));
}

TEST_F(PositiveTest, IsRefusedWhereThereIsNone) {
  EXPECT_EQ(error_of("good bad", "Bad"),
            "data.positive: column \"y\": expected \"bad\" or \"good\", got \"Bad\"");
  EXPECT_EQ(error_of("a b c", "a"),
            "data.positive: column \"y\": expected a target of two classes, got 3 classes; remove "
            "data.positive");
  EXPECT_EQ(error_of("1.5 2.25 3.75", "1.5"),
            "data.positive: column \"y\": expected a target of two classes, got numbers; remove "
            "data.positive");
}

using config::Task;

TaskChoice whole_numbers(int64_t num_distinct, double min, double max, int64_t num_rows) {
  return infer_task({.num_distinct = num_distinct, .min = min, .max = max, .num_rows = num_rows});
}

TEST(TaskTest, TextMakesClassesAndFractionsANumber) {
  const TaskChoice text = infer_task({.all_numbers = false, .all_whole = false});
  EXPECT_EQ(text.task, Task::kClassification);
  EXPECT_EQ(text.reason, "because it is text");
  const TaskChoice fractions = infer_task({.all_whole = false});
  EXPECT_EQ(fractions.task, Task::kRegression);
  EXPECT_EQ(fractions.reason, "because it has non-integer values");
}

TEST(TaskTest, FewWholeNumbersMakeClasses) {
  const TaskChoice few = whole_numbers(20, 3, 400, 1000);
  EXPECT_EQ(few.task, Task::kClassification);
  EXPECT_EQ(few.reason, "because it has 20 distinct integer values");
  EXPECT_EQ(few.otherwise, "set task: regression if they are quantities");
  EXPECT_EQ(whole_numbers(2, 0, 1, 1000).otherwise, "");
  const TaskChoice ages = whole_numbers(80, 18, 97, 1000);
  EXPECT_EQ(ages.task, Task::kRegression);
  EXPECT_EQ(ages.reason, "because it has 80 distinct integer values");
  EXPECT_EQ(ages.otherwise, "set task: classification if they are classes");
}

TEST(TaskTest, NumbersWithoutAGapFromZeroOrOneMakeClassesUpToAHundred) {
  EXPECT_EQ(whole_numbers(100, 0, 99, 500).task, Task::kClassification);
  EXPECT_EQ(whole_numbers(47, 1, 47, 1000).task, Task::kClassification);
  EXPECT_EQ(whole_numbers(47, 0, 47, 1000).task, Task::kRegression);  // a gap
  EXPECT_EQ(whole_numbers(47, 2, 48, 1000).task, Task::kRegression);  // from 2
  EXPECT_EQ(whole_numbers(100, 0, 99, 499).task, Task::kRegression);  // few rows
  EXPECT_EQ(whole_numbers(101, 0, 100, 5000).task, Task::kRegression);
}

}  // namespace

}  // namespace trainer::data
