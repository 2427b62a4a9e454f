// SPDX-License-Identifier: Apache-2.0
#include "table/schema/outliers.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/config/data_config.h"
#include "trainer/table/dataset.h"
#include "trainer/table/schema/encode.h"

#include "support/numbers.h"
#include "support/temporary_folder.h"

namespace trainer::data {
namespace {

using Floats = std::vector<float>;
using Lines = std::vector<std::string>;

using test::mixed;

// The quantile of a standard normal distribution, nearly.
double normal(int i) { return std::log((mixed(i) + 1e-4) / (1.0001 - mixed(i))) / 1.7; }

Floats floats(int count, const std::function<double(int)>& number) {
  Floats result;
  for (int i = 0; i < count; ++i) result.push_back(static_cast<float>(number(i)));
  return result;
}

TEST(OutliersTest, HonestColumnsHaveNone) {
  const std::vector<std::pair<const char*, std::function<double(int)>>> columns = {
      {"uniform", [](int i) { return mixed(i); }},
      {"normal", normal},
      {"prices", [](int i) { return 1000 * std::exp(2 * normal(i)); }},
      {"a long tail", [](int i) { return 1 / (1.0005 - mixed(i)); }},
      {"constant", [](int) { return 3; }},
      {"0 and 1", [](int i) { return i % 2; }},
      {"a few of 1", [](int i) { return i % 500 == 0 ? 1 : 0; }},
      {"mostly 0", [](int i) { return i % 20 == 0 ? 1000 * mixed(i) : 0; }},
      {"a single other value", [](int i) { return i == 7 ? 1e6 : 0; }},
      {"doses", [](int i) { return std::pow(10, i % 8); }}};
  for (const auto& [name, column] : columns) {
    EXPECT_FALSE(find_outliers(floats(3000, column))) << name;
  }
  EXPECT_FALSE(find_outliers(Floats{1, 2, 3, 1e9F}));  // too few to know
}

TEST(OutliersTest, WildCellsAreFound) {
  const auto found = find_outliers(floats(3000, [](int i) { return i == 99 ? 1e6 : mixed(i); }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->indices, std::vector<size_t>{99});
  EXPECT_NEAR(found->median, 0.5, 0.01);
  EXPECT_NEAR(found->high, 1, 0.01);

  // They do not hide each other, nor is the mean theirs.
  const auto two = find_outliers(floats(100, [](int i) {
    return i == 3 ? -1e9 : i == 5 ? 1e4 : i % 3 == 0 ? NAN : normal(i);
  }));
  ASSERT_TRUE(two);
  EXPECT_EQ(two->indices, (std::vector<size_t>{3, 5}));

  // Codes may be many, and nearer.
  const auto codes =
      find_outliers(floats(300, [](int i) { return i % 4 == 0 ? -999 : 50 * mixed(i); }));
  ASSERT_TRUE(codes);
  EXPECT_EQ(codes->indices.size(), 75U);

  EXPECT_TRUE(find_outliers(floats(3000, [](int i) {
    return i == 9 ? 1e7 : i % 4 == 0 ? 100 * mixed(i) : 0;
  })));
}

class OutliersOfTableTest : public ::testing::Test {
 protected:
  Datasets load(config::Outliers outliers, config::ScalingMethod scaling) {
    std::string text = "a,t,y\n";
    for (int i = 0; i < 100; ++i) {
      text += fmt::format("{},{},{}\n", i % 7, i == 40 ? wild_ : i, i == 50 ? 1e7 : i + 0.5);
    }
    config::DataConfig data;
    data.source = config::Source::kCsv;
    data.path = folder_.write("t.csv", text).string();
    data.target = {"y"};
    data.validation_fraction = 0;
    data.test_fraction = 0;
    data.outliers = outliers;
    data.scaling = scaling;
    Datasets datasets = load_datasets(data, 1);
    for (std::string& line : datasets.warnings) line = line.substr(line.find("t.csv"));
    return datasets;
  }

  const std::string of_target_ =
      "t.csv:52: column \"y\": 10000000 is 269,795 deviations from the median 49.5; all others are "
      "from 0.5 to 99.5; correct the target or remove the row, or set training.loss: huber or l1, "
      "which are less sensitive to it";

  test::TemporaryFolder folder_;
  double wild_ = 1e6;
};

TEST_F(OutliersOfTableTest, AreNamedWithLineAndColumn) {
  using config::Outliers;
  using config::ScalingMethod;
  EXPECT_EQ(
      load(Outliers::kWarn, ScalingMethod::kStandard).warnings,
      (Lines{"t.csv:42: column \"t\": 1000000 is 26,978 deviations from the median 50; all others "
             "are from 0 to 99; correct it, set data.outliers: clip, or data.scaling: robust or "
             "quantile, or add it to data.missing if it is a code for missing values",
             of_target_}));
  EXPECT_EQ(load(Outliers::kWarn, ScalingMethod::kRobust).warnings, Lines{of_target_});
  EXPECT_EQ(load(Outliers::kIgnore, ScalingMethod::kStandard).warnings, Lines{});
}

TEST(OutliersOfDatesTest, AreNamedByTheirDate) {
  std::string text = "when,y\n";
  for (int i = 0; i < 100; ++i) {
    text += i == 40 ? "9999-12-31,p\n"
                    : fmt::format("2021-{:02}-{:02},{}\n", 1 + i % 12, 1 + i % 28,
                                  i % 2 == 0 ? "p" : "q");
  }
  const test::TemporaryFolder folder;
  config::DataConfig data;
  data.source = config::Source::kCsv;
  data.path = folder.write("t.csv", text).string();
  data.target = {"y"};
  const Lines warnings = load_datasets(data, 1).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  const std::string& line = warnings.front();
  EXPECT_NE(line.find("t.csv:42: column \"when\": 9999-12-31 is "), std::string::npos) << line;
  EXPECT_NE(line.find("all others are from 2021-01-01 to 2021-12-"), std::string::npos) << line;
  EXPECT_NE(line.find("or add the date, as it is written, to data.missing if it is a code"),
            std::string::npos)
      << line;
}

TEST_F(OutliersOfTableTest, ADistanceOfAnySizeIsWritten) {
  wild_ = 3e38;
  const Lines warnings = load(config::Outliers::kWarn, config::ScalingMethod::kStandard).warnings;
  EXPECT_TRUE(
      warnings.front().starts_with("t.csv:42: column \"t\": 3e+38 is 8.1e+36 deviations "
                                   "from the median 50; all others are from 0 to 99; "))
      << warnings.front();
}

TEST_F(OutliersOfTableTest, ClippingLimitsCellsToTheRangeOfTheOthers) {
  const Datasets datasets = load(config::Outliers::kClip, config::ScalingMethod::kNone);
  EXPECT_EQ(datasets.warnings, Lines{of_target_});
  EXPECT_EQ(datasets.notes,
            Lines{"\"t\": 1 cell clipped to -99 .. 198, the first is 1000000 in line 42"});
  const Column& t = datasets.schema.columns[1];
  ASSERT_TRUE(t.limits);
  EXPECT_EQ(t.limits->low, -99);
  EXPECT_EQ(t.limits->high, 198);
  EXPECT_EQ(value_at(datasets.train.features, 40, 1), 198);
  EXPECT_EQ(value_at(datasets.train.features, 99, 1), 99);

  // In other tables too.
  Table table;
  table.file = "new.csv";
  table.feature_names = {"a", "t"};
  table.features = {2, 2, Floats{1, -1e9F, 2, NAN}};
  table.dictionaries = {{}, {}};
  table.num_missing = {0, 1};
  table.targets = {"1", "2"};
  table.target_names = {"y"};
  table.lines = {2, 3};
  std::vector<int64_t> num_unknown;
  const Dataset rows = apply_schema(std::move(table), datasets.schema, "", num_unknown);
  EXPECT_EQ(value_at(rows.features, 0, 1), -99);
  EXPECT_EQ(value_at(rows.features, 1, 1), static_cast<double>(*t.fill));
}

}  // namespace
}  // namespace trainer::data
