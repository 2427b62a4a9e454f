// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/table/split/split.h"

#include "support/error_of.h"

namespace trainer::data {
namespace {

using Rows = std::vector<int64_t>;

constexpr int64_t kFolds = 5;

SplitIndices fold_of(const Rows& strata, int64_t fold, double validation_fraction = 0) {
  return split_rows(static_cast<int64_t>(strata.size()), strata,
                    {validation_fraction, 0, 42, kFolds, fold});
}

Rows strata_of(const std::vector<int64_t>& sizes) {
  Rows strata;
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    strata.insert(strata.end(), static_cast<std::size_t>(sizes[c]), static_cast<int64_t>(c));
  }
  return strata;
}

int64_t count_of(std::span<const int64_t> rows, const Rows& strata, int64_t label) {
  return std::count_if(rows.begin(), rows.end(),
                       [&](int64_t row) { return strata[static_cast<std::size_t>(row)] == label; });
}

TEST(FoldsTest, EachRowIsTestedOnceAndTrainedElsewhere) {
  const Rows strata = strata_of({23, 11, 8});
  std::multiset<int64_t> tested;
  for (int64_t fold = 1; fold <= kFolds; ++fold) {
    const SplitIndices split = fold_of(strata, fold, 0.2);
    tested.insert(split.test.begin(), split.test.end());
    std::set<int64_t> all(split.train.begin(), split.train.end());
    all.insert(split.validation.begin(), split.validation.end());
    all.insert(split.test.begin(), split.test.end());
    EXPECT_EQ(all.size(), strata.size());
    EXPECT_EQ(split.validation.size(), 7U);  // 0.2 of 33 or 34
  }
  EXPECT_EQ(tested.size(), strata.size());
  EXPECT_EQ(std::set<int64_t>(tested.begin(), tested.end()).size(), strata.size());
}

TEST(FoldsTest, FoldsAndTheirClassesDifferByAtMostOneRow) {
  const std::vector<int64_t> sizes = {23, 11, 8};
  const Rows strata = strata_of(sizes);
  for (int64_t fold = 1; fold <= kFolds; ++fold) {
    const SplitIndices split = fold_of(strata, fold);
    EXPECT_NEAR(static_cast<double>(split.test.size()), 42.0 / kFolds, 1);
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      const auto share = static_cast<double>(sizes[c]) / kFolds;
      EXPECT_NEAR(static_cast<double>(count_of(split.test, strata, static_cast<int64_t>(c))), share,
                  1);
    }
  }
}

// As with fractions: a checkpoint relies on them.
TEST(FoldsTest, AreTheSameOnEveryPlatformForEver) {
  const SplitIndices split = split_rows(10, {}, {0.25, 0, 42, kFolds, 2});
  EXPECT_EQ(split.test, (Rows{4, 8}));
  EXPECT_EQ(split.validation, (Rows{5, 9}));
}

TEST(FoldsTest, GroupsAreNeverDivided) {
  Rows groups;
  for (int64_t group = 0; group < 20; ++group) {
    groups.insert(groups.end(), static_cast<std::size_t>(1 + group % 4), group);
  }
  std::multiset<int64_t> tested;
  for (int64_t fold = 1; fold <= kFolds; ++fold) {
    const SplitIndices split = split_groups(groups, {0.2, 0, 42, kFolds, fold});
    EXPECT_EQ(split.test.size(), groups.size() / kFolds);
    EXPECT_FALSE(split.validation.empty());
    tested.insert(split.test.begin(), split.test.end());
    std::set<int64_t> inside;
    for (const int64_t row : split.test) inside.insert(groups[static_cast<std::size_t>(row)]);
    for (const Array<int64_t>* part : {&split.train, &split.validation}) {
      for (const int64_t row : *part) {
        EXPECT_FALSE(inside.contains(groups[static_cast<std::size_t>(row)]));
      }
    }
  }
  EXPECT_EQ(tested.size(), groups.size());
}

// The members of an ensemble: one test split, and each other row validates once.
TEST(FoldsTest, ValidationFoldsDivideTheRowsThatAreNotTested) {
  const Rows strata = strata_of({23, 11, 8});
  for (const int64_t folds : {int64_t{0}, kFolds}) {
    std::multiset<int64_t> validated;
    Array<int64_t> test;
    for (int64_t fold = 1; fold <= 4; ++fold) {
      const SplitIndices split = split_rows(42, strata,
                                            {.test_fraction = folds > 0 ? 0 : 0.25,
                                             .seed = 42,
                                             .folds = folds,
                                             .fold = 2,
                                             .validation_folds = 4,
                                             .validation_fold = fold});
      if (fold == 1) test = split.test;
      EXPECT_EQ(split.test, test);
      EXPECT_EQ(split.train.size() + split.validation.size() + test.size(), 42U);
      EXPECT_NEAR(static_cast<double>(split.validation.size()),
                  (42.0 - static_cast<double>(test.size())) / 4, 1);
      EXPECT_NEAR(static_cast<double>(count_of(split.validation, strata, 2)), 6.4 / 4, 1);
      validated.insert(split.validation.begin(), split.validation.end());
    }
    EXPECT_EQ(validated.size() + test.size(), 42U);
    EXPECT_EQ(std::set<int64_t>(validated.begin(), validated.end()).size(), validated.size());
  }
}

TEST(FoldsTest, ValidationFoldsKeepGroupsTogether) {
  const Rows groups = {0, 0, 1, 2, 2, 2, 3, 4, 4, 5};
  std::multiset<int64_t> validated;
  for (int64_t fold = 1; fold <= 3; ++fold) {
    const SplitIndices split = split_groups(
        groups, {.test_fraction = 0.2, .seed = 1, .validation_folds = 3, .validation_fold = fold});
    EXPECT_FALSE(split.validation.empty());
    std::set<int64_t> inside;
    for (const int64_t row : split.validation) inside.insert(groups[static_cast<size_t>(row)]);
    for (const int64_t row : split.train) {
      EXPECT_FALSE(inside.contains(groups[static_cast<size_t>(row)]));
    }
    validated.insert(split.validation.begin(), split.validation.end());
  }
  EXPECT_EQ(validated.size(), 8U);
}

TEST(FoldsTest, RefusesMoreValidationFoldsThanRowsOrGroups) {
  const SplitOptions options{
      .validation_fraction = 0, .test_fraction = 0.25, .validation_folds = 4};
  EXPECT_EQ(test::message_of(ErrorKind::kData, [&] { split_rows(4, {}, options); }),
            "data.validation_folds: expected at most 3, as many as there are rows that are not in "
            "the test split, got 4");
  EXPECT_EQ(test::message_of(ErrorKind::kData,
                             [&] {
                               split_groups(Rows{0, 1, 2, 2}, options);
                             }),
            "data.validation_folds: expected at most 2, as many as there are groups that are not "
            "in the test split, got 4");
}

TEST(FoldsTest, RefusesFewerGroupsThanFolds) {
  const Error error = test::error_of([] {
    split_groups(Rows{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, {0.1, 0, 1, kFolds, 1});
  });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_STREQ(error.what(),
               "data.group: expected at least 6 groups for 5 folds and a validation split, got 5; "
               "use another column or fewer folds");
}

}  // namespace
}  // namespace trainer::data
