// SPDX-License-Identifier: Apache-2.0
// What read_table makes of columns: roles by name and pattern, and what it infers.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/table/source/table_reader.h"

#include "support/csv_folder.h"

namespace trainer::data {
namespace {

using Floats = std::vector<float>;
using Words = std::vector<std::string>;

class CsvColumnsTest : public test::CsvFolderTest {
 protected:
  /// A table whose column `a` has `num_rows` cells of `num_words` different texts.
  static std::string texts(int num_rows, int num_words) {
    std::string content = "a,b,y\n";
    for (int i = 0; i < num_rows; ++i) {
      content += "w" + std::to_string(i % num_words) + ",1," + std::to_string(i) + "\n";
    }
    return content;
  }
  static std::string kinds(const Table& table) {
    constexpr const char* kNames[] = {"numeric", "categorical", "id", "left out"};
    std::string text;
    for (const Column& column : table.columns) {
      text += (text.empty() ? "" : ", ") + column.name + " ";
      text += kNames[static_cast<size_t>(column.kind)];
    }
    return text;
  }
};

TEST_F(CsvColumnsTest, TakesTextForCategories) {
  const Table table = read("a,k,y\n1,red,2\n2,blue,3\n3,NA,4\n4,red,5\n");
  EXPECT_EQ(kinds(table), "a numeric, k categorical");
  EXPECT_EQ(table.feature_names, (Words{"a", "k"}));
  EXPECT_EQ(table.dictionaries, (std::vector<Words>{{}, {"red", "blue"}}));
  const auto& cells = std::get<Array<float>>(table.features.values);
  EXPECT_EQ(Floats(cells.begin(), cells.begin() + 4), (Floats{1, 0, 2, 1}));
  EXPECT_TRUE(std::isnan(cells[5]));
  EXPECT_EQ(cells[7], 0);
  EXPECT_FALSE(table.columns[1].is_declared);
}

TEST_F(CsvColumnsTest, TakesAColumnForTextWhenMostOfItsCellsAre) {
  EXPECT_EQ(kinds(read("k,y\n12,1\n12B,2\n14C,3\n")), "k categorical");
}

TEST_F(CsvColumnsTest, LooksAsFarAsTheFirstValueOfAColumn) {
  std::string content = "n,k,e,y\n";
  for (int i = 0; i < 2000; ++i) content += ",,,1\n";
  const Table table = read(content + "5,x,,1\n");
  EXPECT_EQ(kinds(table), "n numeric, k categorical, e left out");
  EXPECT_EQ(table.columns[2].reason, "all cells are missing");
  EXPECT_EQ(table.feature_names, (Words{"n", "k"}));
}

TEST_F(CsvColumnsTest, RefusesTextFarBehindManyNumbers) {
  std::string content = "a,y\n";
  for (int i = 0; i < 2000; ++i) content += "1,1\n";
  EXPECT_EQ(problem(content + "x,1\n", {.targets = {"y"}}),
            "t.csv:2002: column \"a\": expected a number, got \"x\"; correct it, add it to "
            "data.missing, or list "
            "the column "
            "in data.categorical or data.ignore");
}

TEST_F(CsvColumnsTest, LeavesOutTextsThatAreTooMany) {
  const Table table = read(texts(100, 6), {.targets = {"y"}, .max_categories = 5});
  EXPECT_EQ(kinds(table), "a left out, b numeric");
  EXPECT_EQ(table.columns[0].reason, "more than 5 distinct texts (data.max_categories)");
  EXPECT_EQ(kinds(read(texts(100, 5), {.targets = {"y"}, .max_categories = 5})),
            "a categorical, b numeric");
}

TEST_F(CsvColumnsTest, LeavesOutTextsThatHardlyRepeat) {
  const Table table = read(texts(21, 11), {.targets = {"y"}, .max_categories = 64});
  EXPECT_EQ(table.columns[0].kind, ColumnKind::kIgnored);
  EXPECT_EQ(table.columns[0].reason, "almost every text is different (11 distinct in 21 rows)");
  EXPECT_EQ(kinds(read(texts(22, 11), {.targets = {"y"}, .max_categories = 64})),
            "a categorical, b numeric");
  EXPECT_EQ(kinds(read(texts(10, 10))), "a categorical, b numeric");
}

TEST_F(CsvColumnsTest, KeepsAsManyTextsAsHaveFiveRowsEach) {
  EXPECT_EQ(kinds(read(texts(500, 100))), "a categorical, b numeric");
  EXPECT_EQ(kinds(read(texts(5005, 1001))), "a categorical, b numeric");
  const Table table = read(texts(499, 100));
  EXPECT_EQ(kinds(table), "a left out, b numeric");
  EXPECT_EQ(table.columns[0].reason,
            "fewer than 5 rows per category (100 distinct texts; data.max_categories)");
  EXPECT_EQ(read(texts(50'005, 10'001)).columns[0].reason,
            "more than 10,000 distinct texts (data.max_categories)");
}

TEST_F(CsvColumnsTest, LeavesOutLongTexts) {
  const Table table = read("a,b,y\np,1,2\n" + std::string(1001, 'x') + ",1,2\np,2,3\n");
  EXPECT_EQ(kinds(table), "a left out, b numeric");
  EXPECT_EQ(table.columns[0].reason, "long texts (over 1,000 bytes)");
}

TEST_F(CsvColumnsTest, KeepsDeclaredCategoriesHoweverMany) {
  const Table table =
      read(texts(40, 40), {.targets = {"y"}, .categorical = {"a"}, .max_categories = 5});
  EXPECT_EQ(kinds(table), "a categorical, b numeric");
  EXPECT_EQ(table.dictionaries[0].size(), 40u);
  EXPECT_TRUE(table.columns[0].is_declared);
}

TEST_F(CsvColumnsTest, ReadsNumbersAsCategoriesWhereDeclared) {
  const Table table = read("a,y\n8,1\n4,2\n8,3\n", {.targets = {"y"}, .categorical = {"a"}});
  EXPECT_EQ(table.dictionaries[0], (Words{"8", "4"}));
}

TEST_F(CsvColumnsTest, TakesPatternsForColumnsThatNoListNames) {
  const Table table = read("row,f_1,f_2,k_1,k_2,y\n1,2,3,4,5,6\n", {.targets = {"y"},
                                                                    .ignored = {"?_2"},
                                                                    .id = {"row"},
                                                                    .numeric = {"k_2"},
                                                                    .categorical = {"k_*"}});
  EXPECT_EQ(kinds(table), "row id, f_1 numeric, f_2 left out, k_1 categorical, k_2 numeric");
  EXPECT_EQ(table.columns[2].reason, "data.ignore");
}

TEST_F(CsvColumnsTest, APatternLeavesTheTargetAlone) {
  EXPECT_EQ(kinds(read("a,y\n1,2\n", {.targets = {"y"}, .categorical = {"*"}})), "a categorical");
}

TEST_F(CsvColumnsTest, ReadsPartsAndGroups) {
  const Table table =
      read("part,who,a,y\ntrain,p,1,1\nVAL,q,2,2\ntest,p,3,3\nvalidation,r,4,4\n",
           {.targets = {"y"}, .id = {"who"}, .split_column = "part", .group = "who"});
  EXPECT_EQ(table.splits, (std::vector<Split>{Split::kTrain, Split::kValidation, Split::kTest,
                                              Split::kValidation}));
  EXPECT_EQ(table.groups, (std::vector<int64_t>{0, 1, 0, 2}));
  EXPECT_EQ(kinds(table), "part left out, who id, a numeric");
}

// ---- roles that cannot be ----

TEST_F(CsvColumnsTest, RefusesARoleForAnAbsentColumn) {
  const std::string content = "island,sex,y\n1,2,3\n";
  EXPECT_EQ(problem(content, {.targets = {"y"}, .categorical = {"isalnd"}}),
            "t.csv:1: data.categorical: column \"isalnd\" is not in the header; did you mean "
            "\"island\"?");
  EXPECT_EQ(problem(content, {.targets = {"y"}, .numeric = {"age"}}),
            "t.csv:1: data.numeric: column \"age\" is not in the header; the header has island, "
            "sex and y");
  EXPECT_EQ(problem(content, {.targets = {"y"}, .id = {"sx"}}),
            "t.csv:1: data.id: column \"sx\" is not in the header; did you mean \"sex\"?");
  EXPECT_EQ(problem(content, {.targets = {"y"}, .split_column = "part"}),
            "t.csv:1: data.split_column: column \"part\" is not in the header; the header has "
            "island, sex and y");
  EXPECT_EQ(problem(content, {.targets = {"y"}, .group = "ilsand"}),
            "t.csv:1: data.group: column \"ilsand\" is not in the header; did you mean "
            "\"island\"?");
}

TEST_F(CsvColumnsTest, RefusesAPatternThatFitsNoColumn) {
  EXPECT_EQ(problem("a,b,y\n1,2,3\n", {.targets = {"y"}, .ignored = {"pixel_*"}}),
            "t.csv:1: data.ignore: no column matches \"pixel_*\"; the header has a, b and y");
}

TEST_F(CsvColumnsTest, RefusesTwoRolesForAColumn) {
  const std::string content = "a,b,y\n1,2,3\n";
  EXPECT_EQ(problem(content, {.targets = {"y"}, .numeric = {"a"}, .categorical = {"a"}}),
            "t.csv:1: data.categorical: column \"a\" is also in data.numeric; remove it from one "
            "of them");
  EXPECT_EQ(problem(content, {.targets = {"y"}, .numeric = {"a*"}, .categorical = {"*"}}),
            "t.csv:1: data.categorical: column \"a\" is also in data.numeric; remove it from one "
            "of them");
  EXPECT_EQ(
      problem(content, {.targets = {"y"}, .numeric = {"a"}, .group = "a"}),
      "t.csv:1: data.group: column \"a\" is also in data.numeric; remove it from one of them");
  EXPECT_EQ(problem(content, {.targets = {"y"}, .split_column = "y"}),
            "t.csv:1: data.split_column: column \"y\" is the target; remove it from "
            "data.split_column or choose another data.target");
}

TEST_F(CsvColumnsTest, RefusesPartsAndGroupsThatAreNone) {
  const ColumnOptions splits{.targets = {"y"}, .split_column = "p"};
  EXPECT_EQ(problem("p,a,y\ntrain,1,2\ntets,1,2\n", splits),
            "t.csv:3: column \"p\": expected train, validation (or val) or test, got \"tets\"");
  EXPECT_EQ(problem("p,a,y\n,1,2\n", splits),
            "t.csv:2: column \"p\": expected train, validation (or val) or test, got \"\"");
  EXPECT_EQ(problem("g,a,y\nx,1,2\n?,1,2\n", {.targets = {"y"}, .group = "g"}),
            "t.csv:3: column \"g\": expected a group, got \"?\", a missing value; fill it in or "
            "remove the row");
}

// ---- another file with the same columns ----

class CsvAsTest : public CsvColumnsTest {
 protected:
  Table read_as(std::string_view content) {
    return read_table_as({folder_.write("t.csv", content)}, {columns_, test::kTarget});
  }

  std::vector<Column> columns_ = {
      {.name = "n", .fill = 1},
      {.name = "m"},
      {.name = "k", .kind = ColumnKind::kCategorical, .categories = {"p", "q"}},
      {.name = "row", .kind = ColumnKind::kId}};
};

TEST_F(CsvAsTest, FindsColumnsInAnyOrderAndLeavesOutFurtherOnes) {
  const Table table = read_as("new,k,y,m,n\nx,z,1,2,3\nw,p,4,5,\n");
  EXPECT_EQ(table.feature_names, (Words{"k", "m", "n"}));
  EXPECT_EQ(table.dictionaries[0], (Words{"z", "p"}));
  EXPECT_EQ(table.targets, (TargetCells{"1", "4"}));
  const auto& cells = std::get<Array<float>>(table.features.values);
  EXPECT_EQ(Floats(cells.begin(), cells.begin() + 5), (Floats{0, 2, 3, 1, 5}));
  EXPECT_TRUE(std::isnan(cells[5]));
}

TEST_F(CsvAsTest, RefusesMissingColumnsAllAtOnce) {
  EXPECT_EQ(message_of([&] { read_as("n,row\n1,2\n"); }),
            "t.csv:1: expected the columns of the training data; missing from the header: \"y\", "
            "\"m\" and \"k\"");
  EXPECT_EQ(message_of([&] { read_as("n,m,y\n1,2,3\n"); }),
            "t.csv:1: expected the columns of the training data; missing from the header: \"k\"");
}

TEST_F(CsvAsTest, RefusesTextAndWhatHasNoFill) {
  EXPECT_EQ(message_of([&] { read_as("n,m,k,y\nx,2,p,4\n"); }),
            "t.csv:2: column \"n\": expected a number, got \"x\"; correct it: the column was "
            "numeric in the training data");
  EXPECT_EQ(message_of([&] { read_as("n,m,k,y\n,,p,4\n"); }),
            "t.csv:2: column \"m\": expected a number, got an empty field; fill it in: the model "
            "has no fill value for this column");
}

}  // namespace
}  // namespace trainer::data
