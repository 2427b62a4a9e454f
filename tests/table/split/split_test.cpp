// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/split/split.h"

#include <cmath>
#include <cstddef>
#include <span>

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace trainer::data {
namespace {

using Rows = std::vector<int64_t>;

Rows counts_of(std::span<const int64_t> rows, const Rows& strata, size_t num_classes) {
  Rows counts(num_classes);
  for (const int64_t row : rows) ++counts[static_cast<size_t>(strata[static_cast<size_t>(row)])];
  return counts;
}

void expect_partition(const SplitIndices& split, size_t num_rows) {
  std::vector<int> seen(num_rows);
  for (const Array<int64_t>* part : {&split.train, &split.validation, &split.test}) {
    for (size_t i = 0; i < part->size(); ++i) {
      ++seen.at(static_cast<size_t>((*part)[i]));
      if (i > 0) {
        EXPECT_LT((*part)[i - 1], (*part)[i]);
      }
    }
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
}

// These numbers may never change: resuming a run and evaluating a model rely on the same split.
TEST(SplitTest, IsTheSameOnEveryPlatformForEver) {
  const SplitIndices split = split_rows(10, {}, {0.2, 0.2, 42});
  EXPECT_EQ(split.train, (Rows{0, 1, 3, 6, 7, 8}));
  EXPECT_EQ(split.validation, (Rows{2, 5}));
  EXPECT_EQ(split.test, (Rows{4, 9}));
}

TEST(SplitTest, IsTheSameForEverWithClassesToo) {
  Rows strata(20, 0);
  for (size_t row = 12; row < 20; ++row) strata[row] = row < 18 ? 1 : 2;
  const SplitIndices split = split_rows(20, strata, {0.2, 0.25, 42});
  EXPECT_EQ(split.train, (Rows{0, 1, 3, 8, 9, 10, 12, 15, 17, 18, 19}));
  EXPECT_EQ(split.validation, (Rows{2, 5, 7, 13}));
  EXPECT_EQ(split.test, (Rows{4, 6, 11, 14, 16}));
}

TEST(SplitTest, PutsEveryRowIntoOnePart) {
  const SplitIndices split = split_rows(1003, {}, {0.15, 0.2, 1});
  expect_partition(split, 1003);
  EXPECT_EQ(split.validation.size(), 150u);
  EXPECT_EQ(split.test.size(), 201u);
}

TEST(SplitTest, KeepsTheProportionsOfClasses) {
  Rows strata;
  const Rows sizes = {700, 200, 97, 3};
  for (size_t c = 0; c < sizes.size(); ++c) {
    strata.insert(strata.end(), static_cast<size_t>(sizes[c]), static_cast<int64_t>(c));
  }
  const SplitIndices split = split_rows(1000, strata, {0.1, 0.25, 5});
  expect_partition(split, 1000);
  EXPECT_EQ(split.validation.size(), 100u);
  EXPECT_EQ(split.test.size(), 250u);
  EXPECT_EQ(counts_of(split.validation, strata, 4), (Rows{70, 20, 10, 0}));
  EXPECT_EQ(counts_of(split.test, strata, 4), (Rows{175, 50, 24, 1}));
}

TEST(SplitTest, KeepsTotalsExactForAllSizes) {
  for (int64_t num_rows = 10; num_rows < 60; ++num_rows) {
    Rows strata;
    for (int64_t row = 0; row < num_rows; ++row) strata.push_back(row * row % 7);
    const SplitIndices split = split_rows(num_rows, strata, {0.3, 0.45, 9});
    expect_partition(split, static_cast<size_t>(num_rows));
    const auto rounded = [&](double f) { return std::llround(f * static_cast<double>(num_rows)); };
    EXPECT_EQ(static_cast<int64_t>(split.validation.size()), rounded(0.3));
    EXPECT_EQ(static_cast<int64_t>(split.test.size()), rounded(0.45));
  }
}

TEST(SplitTest, LeavesRareClassesInTraining) {
  const Rows strata = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const SplitIndices split = split_rows(10, strata, {0.3, 0.3, seed});
    EXPECT_EQ(counts_of(split.train, strata, 3), (Rows{2, 1, 1}));
  }
}

TEST(SplitTest, WorksWhenEveryRowIsAClassOfItsOwn) {
  Rows strata;
  for (int64_t row = 0; row < 10; ++row) strata.push_back(row);
  const SplitIndices split = split_rows(10, strata, {0.4, 0.5, 1});
  expect_partition(split, 10);
  EXPECT_EQ(split.train.size(), 1u);
}

TEST(SplitTest, DependsOnTheSeed) {
  EXPECT_NE(split_rows(100, {}, {0.1, 0.1, 1}).test, split_rows(100, {}, {0.1, 0.1, 2}).test);
}

TEST(SplitTest, LeavesPartsOfFractionZeroEmpty) {
  const SplitIndices split = split_rows(5, {}, {0, 0, 1});
  EXPECT_EQ(split.train, (Rows{0, 1, 2, 3, 4}));
  EXPECT_TRUE(split.validation.empty());
  EXPECT_TRUE(split.test.empty());
}

TEST(SplitTest, RefusesAFractionThatTakesNoRow) {
  const Error error = test::error_of([] { split_rows(4, {}, {0.1, 0, 1}); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_STREQ(error.what(),
               "data.validation_fraction: 0.1 of 4 rows is less than one row; use more data, a "
               "larger fraction or 0");
  EXPECT_STREQ(test::error_of([] {
                 split_rows(1000, {}, {0, 1e-4, 1});
               }).what(),
               "data.test_fraction: 0.0001 of 1,000 rows is less than one row; use more data, a "
               "larger fraction or 0");
}

TEST(SplitTest, RefusesToLeaveNothingToTrainOn) {
  const Error error = test::error_of([] { split_rows(2, {}, {0.4, 0.5, 1}); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_STREQ(error.what(),
               "no rows left for training: of 2 rows, 1 are for validation and 1 for test; use "
               "more data or a smaller data.validation_fraction and data.test_fraction");
}

// ---- groups and splits ----

TEST(SplitTest, GroupsAreDividedTheSameForEver) {
  const Rows groups = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
  const SplitIndices split = split_groups(groups, {0.2, 0.2, 42});
  EXPECT_EQ(split.train, (Rows{0, 1, 4, 5, 8, 9}));
  EXPECT_EQ(split.validation, (Rows{6, 7}));
  EXPECT_EQ(split.test, (Rows{2, 3}));
}

TEST(SplitTest, GroupsOfAnySizeComeNearTheFractions) {
  Rows groups;
  for (int64_t group = 0; group < 100; ++group) {
    groups.insert(groups.end(), static_cast<size_t>(1 + group % 7), group);
  }
  const SplitIndices split = split_groups(groups, {0.25, 0.1, 5});
  expect_partition(split, groups.size());
  const auto num_rows = static_cast<double>(groups.size());
  EXPECT_NEAR(static_cast<double>(split.validation.size()), 0.25 * num_rows, 4);
  EXPECT_NEAR(static_cast<double>(split.test.size()), 0.1 * num_rows, 4);
}

TEST(SplitTest, APartGetsTheSmallestGroupWhenAllAreTooLarge) {
  Rows groups(100, 0);
  for (size_t row = 50; row < 90; ++row) groups[row] = 1;
  for (size_t row = 90; row < 100; ++row) groups[row] = 2;
  const SplitIndices split = split_groups(groups, {0, 0.01, 42});
  EXPECT_EQ(split.test.size(), 10u);
  EXPECT_EQ(split.train.size(), 90u);
}

TEST(SplitTest, RefusesFewerGroupsThanParts) {
  const Error error = test::error_of([] {
    split_groups(Rows{0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, {0.1, 0.1, 1});
  });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_STREQ(error.what(),
               "data.group: expected at least 3 groups, one per split, got 2; use another column, "
               "or 0 for data.validation_fraction or data.test_fraction");
}

TEST(SplitTest, NeverLeavesNoGroupToTrainOn) {
  const Error error = test::error_of([] {
    split_groups(Rows{0, 1, 2, 3, 3, 3, 3, 3, 3, 3}, {0.4, 0.4, 1});
  });
  EXPECT_STREQ(error.what(),
               "data.group: no group left for training; use a smaller data.validation_fraction and "
               "data.test_fraction");
}

TEST(SplitTest, FollowsGivenParts) {
  const std::vector<Split> parts = {Split::kTest, Split::kTrain, Split::kValidation, Split::kTrain};
  const SplitIndices split = split_by_column(parts);
  EXPECT_EQ(split.train, (Rows{1, 3}));
  EXPECT_EQ(split.validation, Rows{2});
  EXPECT_EQ(split.test, Rows{0});
}

// ---- by time ----

using Times = std::vector<double>;

TEST(SplitByTimeTest, TheLatestRowsAreTheTestPartWhateverTheOrderOfTheFile) {
  const Times times = {9, 0, 8, 1, 7, 2, 6, 3, 5, 4};
  const SplitIndices split = split_by_time(times, {0.2, 0.3, 42});
  EXPECT_EQ(split.train, (Rows{1, 3, 5, 7, 9}));
  EXPECT_EQ(split.validation, (Rows{6, 8}));
  EXPECT_EQ(split.test, (Rows{0, 2, 4}));
  // Nothing is drawn by chance.
  EXPECT_EQ(split_by_time(times, {0.2, 0.3, 7}).test, split.test);
}

TEST(SplitByTimeTest, RowsOfOneTimeStayTogether) {
  const Times times = {1, 1, 1, 2, 2, 2, 2, 3, 3, 3};
  // Three rows are nearer to two than none is.
  const SplitIndices split = split_by_time(times, {0.4, 0.2, 42});
  EXPECT_EQ(split.train, (Rows{0, 1, 2}));
  EXPECT_EQ(split.validation, (Rows{3, 4, 5, 6}));
  EXPECT_EQ(split.test, (Rows{7, 8, 9}));
  EXPECT_TRUE(split_by_time(times, {0, 0.2, 42}).validation.empty());
  EXPECT_EQ(split_by_time(times, {0, 0, 42}).train.size(), 10U);
}

TEST(SplitByTimeTest, EachFoldIsTestedOnWhatComesAfterItsTrainingRows) {
  Times times(12);
  for (size_t row = 0; row < times.size(); ++row) times[row] = static_cast<double>(row);
  const auto fold = [&](int64_t number, double validation) {
    return split_by_time(times, {validation, 0, 42, 3, number});
  };
  EXPECT_EQ(fold(1, 0).train, (Rows{0, 1, 2}));
  EXPECT_EQ(fold(1, 0).test, (Rows{3, 4, 5}));
  EXPECT_EQ(fold(2, 0).train, (Rows{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(fold(2, 0).test, (Rows{6, 7, 8}));
  EXPECT_EQ(fold(3, 0).test, (Rows{9, 10, 11}));
  EXPECT_EQ(fold(2, 0.3).train, (Rows{0, 1, 2, 3}));
  EXPECT_EQ(fold(2, 0.3).validation, (Rows{4, 5}));
}

TEST(SplitByTimeTest, TooFewDifferentTimesAreAnError) {
  const Times times = {1, 1, 2, 2, 2, 2, 2, 2, 2, 2};
  EXPECT_STREQ(test::error_of([&] {
                 split_by_time(times, {0.2, 0.2, 42});
               }).what(),
               "data.time: expected at least 3 distinct times for 3 splits, got 2; use "
               "another column or another data.split");
  EXPECT_STREQ(test::error_of([&] {
                 split_by_time(times, {0.2, 0, 42, 3, 1});
               }).what(),
               "data.time: expected at least 5 distinct times for 3 folds and a validation split, "
               "got 2; use another column or another data.split");
}

// ---- repeats ----

TEST(SplitTest, ARepeatIsAnotherDivisionAndTheFirstIsTheOneWithout) {
  const auto test_rows = [](uint64_t repeat) {
    return split_rows(100, {}, {0.1, 0, 42, 5, 1, repeat}).test;
  };
  EXPECT_EQ(test_rows(0), split_rows(100, {}, {0.1, 0, 42, 5, 1}).test);
  EXPECT_NE(test_rows(1), test_rows(0));
  EXPECT_NE(test_rows(2), test_rows(1));
  Rows groups(100);
  for (size_t row = 0; row < groups.size(); ++row) groups[row] = static_cast<int64_t>(row / 4);
  EXPECT_NE(split_groups(groups, {0.1, 0, 42, 5, 1, 1}).test,
            split_groups(groups, {0.1, 0, 42, 5, 1, 0}).test);
}

}  // namespace
}  // namespace trainer::data
