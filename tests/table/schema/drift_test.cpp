// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/drift.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/philox.h"
#include "trainer/table/schema/columns.h"

#include "support/csv_folder.h"

namespace trainer::data {
namespace {

using Words = std::vector<std::string>;

const std::string kHeader = "x,k,y\n";

/// Rows with a number from 0 to 99 and one of the categories a to e.
std::string rows_of(uint64_t seed, int64_t count) {
  PhiloxStream random(seed, StreamId{});
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    text += fmt::format("{},{},0\n", random.below(100), static_cast<char>('a' + random.below(5)));
  }
  return text;
}

class DriftTest : public test::CsvFolderTest {
 protected:
  /// What is said of `rows` by columns that were fitted to `trained`.
  Words differences(const std::string& rows, const std::string& trained) {
    const Table table = read_all(trained);
    std::vector<int64_t> all(static_cast<std::size_t>(table.features.num_rows));
    std::iota(all.begin(), all.end(), int64_t{0});
    const std::vector<Column> columns = fit_columns(table, all, {});
    DriftCounter counter(columns);
    counter.add(read_all(rows));
    return counter.differences();
  }
  Table read_all(const std::string& rows) {
    return read(kHeader + rows, {.targets = test::kTarget, .numeric = {"x"}, .categorical = {"k"}});
  }
  Words differences(const std::string& rows) { return differences(rows, rows_of(1, 2000)); }
};

TEST_F(DriftTest, RowsOfTheSameDistributionHaveNone) {
  for (uint64_t seed = 10; seed < 60; ++seed) {
    for (const int64_t count : {1, 5, 30, 200}) {
      EXPECT_EQ(differences(rows_of(seed, count)), Words{}) << seed << " " << count;
    }
    EXPECT_EQ(differences(rows_of(seed, 300), rows_of(seed + 100, 40)), Words{}) << seed;
  }
}

TEST_F(DriftTest, MissingCellsAreCompared) {
  std::string rows;
  for (int i = 0; i < 50; ++i) rows += i % 2 == 0 ? ",a,0\n50,,0\n" : rows_of(7, 2);
  EXPECT_EQ(differences(rows), (Words{"\"x\": 25 % of the cells are missing, 0 % in training",
                                      "\"k\": 25 % of the cells are missing, 0 % in training"}));
}

TEST_F(DriftTest, RowsThatAlternateAreSeen) {
  std::string rows;
  for (int i = 0; i < 1500; ++i) rows += i % 2 == 0 ? rows_of(5, 1) : ",a,0\n";
  const Words found = differences(rows);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.front().find("% of the cells are missing, 0 % in training"), std::string::npos)
      << found.front();
}

TEST_F(DriftTest, NumbersBeyondTheRangeAreCounted) {
  std::string rows = rows_of(2, 90);
  for (int i = 0; i < 10; ++i) rows += fmt::format("{},a,0\n", 200 + i);
  EXPECT_EQ(differences(rows),
            Words{"\"x\": 10 % of the numbers are beyond those in training, 0 to 99; they are 0 to "
                  "209"});
}

TEST_F(DriftTest, OneNumberFarBeyondTheRangeIsEnough) {
  EXPECT_EQ(differences("4000,a,0\n"),
            Words{"\"x\": 100 % of the numbers are beyond those in training, 0 to 99; they are "
                  "4000 to 4000"});
  EXPECT_EQ(differences("150,a,0\n"), Words{});
}

TEST_F(DriftTest, UnknownCategoriesAreCounted) {
  std::string rows = rows_of(3, 40);
  for (int i = 0; i < 20; ++i) rows += fmt::format("{},new,0\n", 5 * i);
  const Words found = differences(rows);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front(), "\"k\": 33.3 % of the values are categories that were not in training");
}

// Where most categories occurred once, other rows have others.
TEST_F(DriftTest, NewCategoriesAreExpectedWhereTrainingHadManyOnce) {
  const auto names = [](char first, int count) {
    std::string rows;
    for (int i = 0; i < count; ++i) rows += fmt::format("{},{}{},0\n", i % 100, first, i);
    return rows;
  };
  EXPECT_EQ(differences(names('p', 100), names('q', 100)), Words{});
}

TEST_F(DriftTest, AnotherDistributionIsNoticed) {
  std::string rows;
  for (int i = 0; i < 100; ++i) rows += fmt::format("{},a,0\n", i % 30);
  const Words found = differences(rows);
  ASSERT_EQ(found.size(), 2U);
  for (const std::string& line : found) {
    EXPECT_NE(line.find("the values are distributed otherwise than in training (population "
                        "stability index "),
              std::string::npos)
        << line;
  }
}

TEST_F(DriftTest, AColumnThatIsConstantMayBeAnything) {
  EXPECT_EQ(differences("7,a,0\n", "5,a,0\n5,a,0\n5,a,0\n"), Words{});
}

TEST(ProfileTest, RowsThatAlternateAreSampledAlike) {
  constexpr std::size_t kRows = 40'000;
  for (const std::size_t step : {2U, 4U, 8U}) {
    std::size_t num_odd = 0;
    for (std::size_t first = 0; first < kRows; first += step) {
      const std::size_t row = sampled_row(first, step, kRows);
      EXPECT_GE(row, first);
      EXPECT_LT(row, first + step);
      num_odd += row % 2;
    }
    const double share = static_cast<double>(num_odd * step) / static_cast<double>(kRows);
    EXPECT_NEAR(share, 0.5, 0.02) << step;
  }
  EXPECT_LT(sampled_row(7, 4, 8), 8U);
}

TEST(ProfileTest, BinsHoldAboutATenthEach) {
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0F);
  ColumnProfile profile;
  fit_bins(values, profile);
  ASSERT_EQ(profile.edges.size(), 9U);
  for (const float share : profile.shares) EXPECT_NEAR(share, 0.1, 0.002);
}

TEST(ProfileTest, EqualValuesShareABin) {
  ColumnProfile profile;
  fit_bins({0, 0, 0, 0, 0, 0, 0, 1, 1, 5}, profile);
  EXPECT_EQ(profile.edges, (std::vector<float>{0, 1}));
  EXPECT_EQ(profile.shares, (std::vector<float>{0.7F, 0.2F, 0.1F}));
  fit_bins({3, 3}, profile);
  EXPECT_EQ(profile.edges, std::vector<float>{});
  EXPECT_EQ(profile.shares, std::vector<float>{1});
}

}  // namespace
}  // namespace trainer::data
