// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/task.h"

#include <gtest/gtest.h>

namespace trainer::data {
namespace {

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
