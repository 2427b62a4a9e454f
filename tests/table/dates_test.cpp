// SPDX-License-Identifier: Apache-2.0
// Columns of dates become columns of their parts.
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/config/data_config.h"
#include "trainer/table/dataset.h"
#include "trainer/table/source/table_reader.h"

#include "support/csv_folder.h"
#include "support/datasets.h"
#include "table/source/time_text.h"

namespace trainer::data {
namespace {

using config::DatePart;
using Words = std::vector<std::string>;
using Floats = std::vector<float>;

const std::vector<DatePart> kAllParts = {DatePart::kYear, DatePart::kMonth, DatePart::kDayOfWeek,
                                         DatePart::kHour, DatePart::kSeconds};

TEST(DatePartsTest, AreThoseOfTheCalendarInUtc) {
  constexpr double kSunday = 1772323199;  // 2026-02-28T23:59:59, a Saturday, and a second later
  EXPECT_EQ(part_of(kSunday, DatePart::kYear), 2026);
  EXPECT_EQ(part_of(kSunday, DatePart::kMonth), 2);
  EXPECT_EQ(part_of(kSunday, DatePart::kDayOfWeek), 6);
  EXPECT_EQ(part_of(kSunday, DatePart::kHour), 23);
  EXPECT_EQ(part_of(kSunday + 1, DatePart::kMonth), 3);
  EXPECT_EQ(part_of(kSunday + 1, DatePart::kDayOfWeek), 7);
  EXPECT_EQ(part_of(kSunday + 1, DatePart::kHour), 0);
  EXPECT_EQ(part_of(kSunday, DatePart::kSeconds), kSunday);
  EXPECT_EQ(part_of(-1, DatePart::kYear), 1969);
  EXPECT_EQ(part_of(-1, DatePart::kHour), 23);
}

class DatesTest : public test::CsvFolderTest {
 protected:
  Table read(std::string_view content, const std::vector<DatePart>& dates = kAllParts) const {
    return CsvFolderTest::read(content, {.targets = test::kTarget, .dates = dates});
  }
  std::string problem(std::string_view content) const {
    return CsvFolderTest::problem(content, {.targets = test::kTarget, .dates = kAllParts});
  }
};

TEST_F(DatesTest, EachPartIsANumericColumn) {
  const Table table =
      read("a,when,y\n1,2026-02-28T23:59,p\n2,,q\n3,2025-12-31 01:00Z,p\n", kAllParts);
  EXPECT_EQ(table.feature_names, (Words{"a", "when.year", "when.month", "when.day_of_week",
                                        "when.hour", "when.seconds"}));
  const auto& cells = std::get<Array<float>>(table.features.values);
  const double offset = table.columns[5].offset;
  EXPECT_TRUE(offset == 1772323140 || offset == 1767142800) << offset;
  const Floats first(cells.begin(), cells.begin() + 6);
  EXPECT_EQ(first, (Floats{1, 2026, 2, 6, 23, static_cast<float>(1772323140 - offset)}));
  for (size_t i = 1; i < 6; ++i) EXPECT_TRUE(std::isnan(cells[6 + i])) << i;
  const Floats third(cells.begin() + 12, cells.end());
  EXPECT_EQ(third, (Floats{3, 2025, 12, 3, 1, static_cast<float>(1767142800 - offset)}));
  EXPECT_EQ(table.num_missing, (std::vector<int64_t>{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(table.columns[1].source, "when");
  EXPECT_EQ(table.columns[1].date_part, DatePart::kYear);
}

TEST_F(DatesTest, OnlyThePartsThatAreWanted) {
  const std::string text = "when,a,y\n2026-02-28,1,p\n2026-03-01,2,q\n";
  EXPECT_EQ(read(text, {DatePart::kMonth}).feature_names, (Words{"when.month", "a"}));
  const Table off = read(text, {});
  EXPECT_EQ(off.feature_names, (Words{"when", "a"}));
  EXPECT_EQ(off.columns[0].kind, ColumnKind::kCategorical);
}

TEST_F(DatesTest, ATextAmongTheFirstCellsMakesItText) {
  const Table table = read("when,a,y\n2026-02-28,1,p\nsoon,2,q\n");
  EXPECT_EQ(table.feature_names, (Words{"when", "a"}));
  EXPECT_EQ(table.columns[0].kind, ColumnKind::kCategorical);
}

TEST_F(DatesTest, ATextBehindTheFirstCellsIsAnError) {
  std::string text = "when,y\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("2026-01-{:02},p\n", 1 + i % 28);
  EXPECT_EQ(problem(text + "2026-02-30,q\n"),
            "t.csv:302: column \"when\": expected a date such as 2026-03-01 or "
            "2026-03-01T12:30:00, got \"2026-02-30\"; correct it, add it to data.missing, or set "
            "data.dates: off");
}

TEST_F(DatesTest, DatesMayBeginWithTheDayOrTheMonth) {
  const std::vector<DatePart> parts = {DatePart::kMonth};
  const auto months = [&](const std::string& text) {
    const Table table = read(text, parts);
    EXPECT_EQ(table.columns[0].source, "when");
    const auto& cells = std::get<Array<float>>(table.features.values);
    return Floats(cells.begin(), cells.end());
  };
  EXPECT_EQ(months("when,y\n07.04.2023,p\n08.05.2023,q\n"), (Floats{4, 5}));
  EXPECT_EQ(months("when,y\n04/07/2023,p\n13/05/2023 12:30,q\n"), (Floats{7, 5}));
  EXPECT_EQ(months("when,y\n04/07/2023,p\n05/13/2023 12:30 PM,q\n"), (Floats{4, 5}));
  EXPECT_EQ(months("when,y\n2021/05/03 18:33:25,p\n2026-03-01 00:30:00 UTC,q\n"), (Floats{5, 3}));
}

// The rows that decide may come late.
TEST_F(DatesTest, AllDatesAreAskedForTheOrder) {
  std::string text = "when,y\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("04/{:02}/2023,p\n", 1 + i % 12);
  const Table table = read(text + "04/13/2023,q\n", {DatePart::kMonth});
  EXPECT_EQ(table.columns[0].date_order, config::DateOrder::kMonthFirst);
  EXPECT_EQ(std::get<Array<float>>(table.features.values)[5], 4.0F);
}

TEST_F(DatesTest, DatesThatTellNoOrderAreDroppedUnlessTheConfigurationTellsIt) {
  const std::string text = "when,a,y\n04/07/2023,1,p\n05/06/2023,2,q\n";
  const Table open = read(text);
  EXPECT_EQ(open.feature_names, Words{"a"});
  EXPECT_EQ(open.columns[0].reason,
            "no date tells day from month, such as 04/07/2023; set data.date_order: day_first or "
            "month_first");
  const Table told = CsvFolderTest::read(text, {.targets = test::kTarget,
                                                .dates = {DatePart::kMonth},
                                                .date_order = config::DateOrder::kMonthFirst});
  EXPECT_EQ(std::get<Array<float>>(told.features.values)[0], 4.0F);
}

TEST_F(DatesTest, APartWithTheNameOfAnotherColumnIsAnError) {
  EXPECT_EQ(problem("when,when.year,y\n2026-02-28,1,p\n"),
            "t.csv:1: column \"when\": a part of its dates would have the name of the column "
            "\"when.year\"; rename that, or set data.dates: off");
}

/// Dates of some weeks in 2026, at noon, and a target that follows the day of the week.
std::string weeks(size_t num_days) {
  std::string text = "when,a,y\n";
  for (size_t day = 0; day < num_days; ++day) {
    text += fmt::format("2026-01-{:02}T12:00:00,{},{}\n", 1 + day % 31, day % 7, day % 3);
  }
  return text;
}

using DatasetDatesTest = test::DatasetFolderTest;

TEST_F(DatasetDatesTest, PartsThatDoNotVaryAreLeftOut) {
  const Datasets datasets = load_datasets(table(weeks(60)), 1);
  EXPECT_EQ(datasets.schema.feature_names, (Words{"when.day_of_week", "when.seconds", "a"}));
  EXPECT_EQ(datasets.notes[0],
            "3 numeric, 3 not used as features (\"when.year\", \"when.month\" and \"when.hour\")");
  EXPECT_EQ(datasets.notes[1],
            "\"when.year\": dropped: the same in all dates of the training split");
}

TEST_F(DatasetDatesTest, NothingIsSaidOfPartsThatTwoDatesHaveInCommon) {
  std::string text = "when,day,y\n";
  for (int i = 0; i < 60; ++i) {
    text += fmt::format("202{0}-0{1}-03T0{2}:00,202{0}-0{1}-03,{2}\n", i % 5, 1 + i % 7, i % 9);
  }
  for (const std::string& note : load_datasets(table(text), 1).notes) {
    EXPECT_EQ(note.find("duplicates"), std::string::npos) << note;
  }
}

TEST_F(DatasetDatesTest, AnotherTableIsReadInTheSameWay) {
  const Datasets datasets = load_datasets(table(weeks(60)), 1);
  const auto path = folder_.write("new.csv", "a,when\n5,2027-06-02T12:00:00\n6,\n");
  const Table table = read_table_as({path}, {.columns = datasets.schema.columns, .targets = {}});
  EXPECT_EQ(table.feature_names, (Words{"a", "when.day_of_week", "when.seconds"}));
  const auto& cells = std::get<Array<float>>(table.features.values);
  EXPECT_EQ(cells[1], 3.0F);
  EXPECT_TRUE(std::isnan(cells[5]));
  EXPECT_EQ(message_of([&] {
              read_table_as({folder_.write("new.csv", "a,b\n5,6\n")},
                            {.columns = datasets.schema.columns, .targets = {}});
            }),
            "new.csv:1: expected the columns of the training data; missing from the header: "
            "\"when\"");
}

// A few rows would not tell.
TEST_F(DatasetDatesTest, TheOrderOfTheTrainingDataIsThatOfAnotherTable) {
  std::string text = "when,a,y\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("{}/{}/2023,{},{}\n", 1 + i % 12, 1 + i % 28, i, i % 2);
  const Datasets datasets = load_datasets(table(text), 1);
  const auto path = folder_.write("new.csv", "a,when\n5,03/04/2023\n");
  const Table table = read_table_as({path}, {.columns = datasets.schema.columns, .targets = {}});
  EXPECT_EQ(table.feature_names[1], "when.month");
  EXPECT_EQ(std::get<Array<float>>(table.features.values)[1], 3.0F);
  EXPECT_EQ(
      message_of([&] {
        read_table_as({folder_.write("new.csv", "a,when\n5,13/04/2023\n")},
                      {.columns = datasets.schema.columns, .targets = {}});
      }),
      "new.csv:2: column \"when\": expected a date such as 12/31/2026 or 12/31/2026 12:30, got "
      "\"13/04/2023\"; correct it: the column had such dates in the training data");
}

// A checkpoint of an older version has such a column as categories.
TEST_F(DatasetDatesTest, ARunThatReadThemAsTextReadsThemAsTextAgain) {
  config::DataConfig data = table(weeks(93));
  data.dates = {"off"};
  data.max_categories = 100;
  const Datasets before = load_datasets(data, 1);
  data.dates = {"auto"};
  const Datasets again = load_datasets(data, 1, &before.schema);
  EXPECT_EQ(again.schema, before.schema);
  EXPECT_EQ(before.schema.columns[0].categories.size(), 31U);
}

TEST_F(DatasetDatesTest, ARunWithDatesIsReadAgainWithTheSameParts) {
  config::DataConfig data = table(weeks(60));
  const Datasets before = load_datasets(data, 1);
  const Datasets again = load_datasets(data, 1, &before.schema);
  EXPECT_EQ(again.schema, before.schema);
  EXPECT_EQ(features(again.train), features(before.train));
}

}  // namespace
}  // namespace trainer::data
