// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/columns.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/philox.h"
#include "trainer/table/schema/encode.h"
#include "trainer/table/source/table_reader.h"

#include "support/csv_folder.h"

namespace trainer::data {
namespace {

using config::Imputation;
using config::UnknownCategory;
using Floats = std::vector<float>;
using Rows = std::vector<int64_t>;
using Words = std::vector<std::string>;

class ColumnsTest : public test::CsvFolderTest {
 protected:
  Column fitted(const Table& table, const Rows& rows, const FitOptions& options = {}) {
    return fit_columns(table, rows, options).front();
  }
  static Array<float> encoded(const std::vector<Column>& columns, Table table) {
    return std::get<Array<float>>(
        encode(columns, UnknownCategory::kUnknown, table).features.values);
  }
};

TEST_F(ColumnsTest, FillsAreLearntFromTheTrainingRowsOnly) {
  const Table table = read("a,y\n1,0\n,0\n2,0\n9,0\n100,0\n4,0\n");
  const Rows rows = {0, 1, 2, 3};
  EXPECT_EQ(fitted(table, rows, {.fill = Imputation::kMean}).fill, 4);
  EXPECT_EQ(fitted(table, rows, {.fill = Imputation::kMedian}).fill, 2);
  EXPECT_EQ(fitted(table, {0, 2, 3, 5}, {.fill = Imputation::kMedian}).fill, 3);
  EXPECT_EQ(fitted(table, rows, {.fill = Imputation::kConstant, .fill_value = -7}).fill, -7);
  EXPECT_EQ(fitted(table, rows, {.fill = Imputation::kError}).fill, std::nullopt);
}

TEST_F(ColumnsTest, AFillStandsReadyWhereNothingWasMissing) {
  EXPECT_EQ(fitted(read("a,y\n1,0\n3,0\n"), {0, 1}).fill, 2);
}

TEST_F(ColumnsTest, CategoriesAreThoseOfTheTrainingRowsSortedAsLabelsAre) {
  EXPECT_EQ(fitted(read("a,y\nb,0\nB,0\na,0\nz,0\n"), {0, 1, 2}).categories,
            (Words{"B", "a", "b"}));
  const Table numbers =
      read("a,y\n10,0\n9,0\n-1,0\n9.0,0\n", {.targets = {"y"}, .categorical = {"a"}});
  EXPECT_EQ(fitted(numbers, {0, 1, 2, 3}).categories, (Words{"-1", "9", "10"}));
}

TEST_F(ColumnsTest, CategoriesBecomeOnesAndZeros) {
  Table table = read("a,k,y\n1,q,0\n2,p,0\n3,,0\n");
  const std::vector<Column> columns = fit_columns(table, Rows{0, 1, 2}, {});
  EXPECT_EQ(feature_names(columns), (Words{"a", "k=p", "k=q", "k is missing"}));
  EXPECT_EQ(num_features(columns[1]), 3);
  const Encoded result = encode(columns, UnknownCategory::kError, table);
  EXPECT_EQ(result.features.num_rows, 3);
  EXPECT_EQ(result.features.num_columns, 4);
  EXPECT_EQ(std::get<Array<float>>(result.features.values), (Floats{1, 0, 1, 0,  //
                                                                    2, 1, 0, 0,  //
                                                                    3, 0, 0, 1}));
  EXPECT_EQ(result.num_unknown, (Rows{0, 0}));
}

TEST_F(ColumnsTest, MissingNumbersAreFilledAndMarkedIfWanted) {
  const Table table = read("a,b,y\n1,5,0\n,6,0\n3,7,0\n");
  const Rows rows = {0, 1, 2};
  EXPECT_EQ(encoded(fit_columns(table, rows, {}), table), (Floats{1, 5, 2, 6, 3, 7}));
  const std::vector<Column> marked = fit_columns(table, rows, {.missing_indicator = true});
  EXPECT_EQ(feature_names(marked), (Words{"a", "a is missing", "b"}));
  EXPECT_EQ(encoded(marked, table), (Floats{1, 0, 5, 2, 1, 6, 3, 0, 7}));
}

TEST_F(ColumnsTest, NothingIsMarkedThatTheTrainingRowsDoNotHave) {
  const Table table = read("a,k,y\n1,p,0\n2,q,0\n,,0\n");
  const std::vector<Column> columns = fit_columns(table, Rows{0, 1}, {.missing_indicator = true});
  EXPECT_EQ(feature_names(columns), (Words{"a", "k=p", "k=q"}));
  EXPECT_EQ(encoded(columns, table), (Floats{1, 1, 0, 2, 0, 1, 1.5f, 0, 0}));
}

TEST_F(ColumnsTest, AnUnknownCategoryIsNoneOfTheKnownOnesAndCounted) {
  Table table = read("k,y\np,0\nq,0\nr,0\n,0\nr,0\n");
  const std::vector<Column> columns = fit_columns(table, Rows{0, 1}, {});
  const Encoded result = encode(columns, UnknownCategory::kUnknown, table);
  EXPECT_EQ(std::get<Array<float>>(result.features.values), (Floats{1, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(result.num_unknown, Rows{3});
}

TEST_F(ColumnsTest, AnUnknownCategoryIsAnErrorIfThatIsWanted) {
  Table table = read("k,y\np,0\n\"q\n\",0\nr,0\n");
  const std::vector<Column> columns = fit_columns(table, Rows{0}, {});
  EXPECT_EQ(message_of([&] { encode(columns, UnknownCategory::kError, table); }),
            "t.csv:3: column \"k\": expected a category of the training split, got \"q\\n"
            "\"; correct it, or train with data.unknown_category: unknown");
  Table missing = read("k,y\np,0\n,0\n");
  EXPECT_EQ(message_of([&] { encode(columns, UnknownCategory::kError, missing); }),
            "t.csv:3: column \"k\": expected a category of the training split, got a missing "
            "value; correct it, or train with data.unknown_category: unknown");
}

TEST_F(ColumnsTest, AnyPartOfAnotherFileIsEncodedAlike) {
  const Table table = read("n,k,y\n1,p,0\n3,q,0\n,p,0\n5,,0\n");
  const std::vector<Column> columns = fit_columns(table, Rows{0, 1, 2, 3}, {});
  const Array<float> whole = encoded(columns, table);
  Floats parts;
  for (const char* part : {"k,x,y,n\np,,0,1\nq,,0,3\n", "n,y,k\n,0,p\n5,0,?\n"}) {
    const auto path = folder_.write("part.csv", part);
    const Array<float> some = encoded(columns, read_table_as({path}, {columns, test::kTarget}));
    parts.insert(parts.end(), some.begin(), some.end());
  }
  EXPECT_EQ(parts, whole);
}

TEST_F(ColumnsTest, ManyCategoriesBecomeTheirNumberBehindAllOtherFeatures) {
  Table table = read("k,a,m,b,y\nz,1,p,5,0\nx,2,q,6,0\n,3,p,7,0\ny,4,,8,0\nw,5,q,9,0\n");
  const std::vector<Column> columns = fit_columns(table, Rows{0, 1, 2, 3}, {.embed_above = 2});
  EXPECT_EQ(columns[0].categories, (Words{"x", "y", "z"}));
  EXPECT_EQ(columns[0].embedding_size, 3);
  EXPECT_EQ(columns[2].embedding_size, 0);
  EXPECT_EQ(num_features(columns[0]), 1);
  EXPECT_EQ(first_features(columns), (Rows{5, 0, 1, 4}));
  EXPECT_EQ(feature_names(columns), (Words{"a", "m=p", "m=q", "m is missing", "b", "k"}));
  const Encoded result = encode(columns, UnknownCategory::kUnknown, table);
  EXPECT_EQ(result.features.num_columns, 6);
  EXPECT_EQ(std::get<Array<float>>(result.features.values), (Floats{1, 1, 0, 0, 5, 2,  //
                                                                    2, 0, 1, 0, 6, 0,  //
                                                                    3, 1, 0, 0, 7, 3,  //
                                                                    4, 0, 0, 1, 8, 1,  //
                                                                    5, 0, 1, 0, 9, 3}));
  EXPECT_EQ(result.num_unknown, (Rows{1, 0, 0, 0}));
}

TEST_F(ColumnsTest, AnUnknownCategoryOfAnEmbeddedColumnIsAnErrorIfThatIsWanted) {
  Table table = read("k,y\np,0\nq,0\n,0\n");
  const std::vector<Column> columns = fit_columns(table, Rows{0, 1}, {.embed_above = 1});
  EXPECT_EQ(message_of([&] { encode(columns, UnknownCategory::kError, table); }),
            "t.csv:4: column \"k\": expected a category of the training split, got a missing "
            "value; correct it, or train with data.unknown_category: unknown");
}

TEST_F(ColumnsTest, EmbeddingsHaveTheSizeThatIsWantedOrThatOfTheRule) {
  const Table table = read("k,y\np,0\nq,0\n");
  EXPECT_EQ(fitted(table, {0, 1}, {.embed_above = 1, .embedding_size = 9}).embedding_size, 9);
  EXPECT_EQ(fitted(table, {0, 1}, {.embed_above = 2, .embedding_size = 9}).embedding_size, 0);
  EXPECT_EQ(fitted(table, {0, 1}, {.embed_above = 0}).embedding_size, 2);
  // 1.6 n^0.56 is 1.6, 7.8, 12.6, 21.1 and 76.6.
  EXPECT_EQ(default_embedding_size(1), 2);
  EXPECT_EQ(default_embedding_size(17), 8);
  EXPECT_EQ(default_embedding_size(40), 13);
  EXPECT_EQ(default_embedding_size(100), 21);
  EXPECT_EQ(default_embedding_size(1000), 50);
}

TEST_F(ColumnsTest, NumbersBecomeTheirPlaceInTheTrainingRows) {
  const FitOptions options = {.quantiles = QuantileScore::kRank};
  const Table plain = read("a,y\n10,0\n20,0\n40,0\n999,0\n15,0\n-3,0\n");
  const std::vector<Column> columns = fit_columns(plain, Rows{0, 1, 2}, options);
  EXPECT_EQ(columns[0].quantiles, (Floats{10, 20, 40}));
  EXPECT_EQ(encoded(columns, plain), (Floats{-1, 0, 1, 1, -0.5f, -1}));
  const std::vector<Column> normal =
      fit_columns(plain, Rows{0, 1, 2}, {.quantiles = QuantileScore::kNormal});
  EXPECT_EQ(normal[0].quantile_score, QuantileScore::kNormal);
  const auto end = static_cast<float>(normal_quantile(1 - 1e-7));
  EXPECT_EQ(encoded(normal, plain), (Floats{-end, 0, end, end, -end / 2, -end}));
  // A part of the file is encoded as the whole is.
  const auto path = folder_.write("part.csv", "a,y\n15,0\n");
  EXPECT_EQ(encoded(columns, read_table_as({path}, {columns, test::kTarget})), Floats{-0.5f});
}

TEST_F(ColumnsTest, MissingNumbersAreFilledBeforeTheirPlaceIsLookedUp) {
  const Table table = read("k,a,y\np,1,0\nq,,0\np,3,0\nq,5,0\np,,0\n");
  const std::vector<Column> columns = fit_columns(
      table, Rows{0, 1, 2, 3}, {.missing_indicator = true, .quantiles = QuantileScore::kRank});
  EXPECT_EQ(columns[1].quantiles, (Floats{1, 3, 3, 5}));
  EXPECT_EQ(encoded(columns, table), (Floats{1, 0, -1, 0,  //
                                             0, 1, 0,  1,  //
                                             1, 0, 0,  0,  //
                                             0, 1, 1,  0,  //
                                             1, 0, 0,  1}));
}

TEST_F(ColumnsTest, NumbersWithoutGapsKeepTheirMemory) {
  Table table = read("a,b,y\n1,2,0\n3,4,0\n");
  const float* before = std::get<Array<float>>(table.features.values).data();
  const std::vector<Column> columns = fit_columns(table, Rows{0, 1}, {});
  const Encoded result = encode(columns, UnknownCategory::kUnknown, table);
  EXPECT_EQ(std::get<Array<float>>(result.features.values).data(), before);
}

TEST_F(ColumnsTest, ColumnsThatAreLeftOutBecomeNoFeature) {
  const Table table = read("a,t,b,y\n1," + std::string(1001, 'x') + ",2,0\n3,z,4,0\n");
  const std::vector<Column> columns = fit_columns(table, Rows{0, 1}, {});
  EXPECT_EQ(feature_names(columns), (Words{"a", "b"}));
  EXPECT_EQ(encoded(columns, table), (Floats{1, 2, 3, 4}));
}

TEST_F(ColumnsTest, AColumnWithoutAValueInTheTrainingPartIsLeftOut) {
  const Column column = fitted(read("a,b,y\n,1,0\n,2,0\n3,4,0\n"), {0, 1});
  EXPECT_EQ(column.kind, ColumnKind::kIgnored);
  EXPECT_EQ(column.reason, "all cells of the training split are missing");
}

TEST_F(ColumnsTest, ADeclaredColumnWithoutAValueIsAnError) {
  for (const ColumnOptions& options : {ColumnOptions{.targets = {"y"}, .numeric = {"a"}},
                                       ColumnOptions{.targets = {"y"}, .categorical = {"a"}}}) {
    const Table table = read("a,b,y\n,1,0\nNA,2,0\n", options);
    EXPECT_EQ(message_of([&] {
                fit_columns(table, Rows{0, 1}, {});
              }),
              "t.csv: column \"a\": expected at least one value in the training split, got none; "
              "fill it in or drop the column with data.ignore");
  }
}

TEST_F(ColumnsTest, ATableWithoutAnyFeatureSaysWhyEachColumnIsNone) {
  const Table table = read("a,b,y\n," + std::string(1001, 'x') + ",0\n,x,1\n");
  EXPECT_EQ(message_of([&] {
              fit_columns(table, Rows{0, 1}, {});
            }),
            "t.csv: no feature columns left (\"a\": all cells are missing and \"b\": long "
            "texts (over 1,000 bytes)); list features in data.numeric or data.categorical");
}

}  // namespace
}  // namespace trainer::data
