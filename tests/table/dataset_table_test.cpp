// SPDX-License-Identifier: Apache-2.0
// load_datasets of tables with columns of several kinds, and of splits that are not drawn by
// chance.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/nn/spec/build.h"
#include "trainer/table/dataset.h"
#include "trainer/table/schema/encode.h"
#include "trainer/table/source/table_reader.h"

#include "support/datasets.h"
#include "support/error_of.h"

namespace trainer::data {
namespace {

using config::DataConfig;
using Floats = std::vector<float>;
using Rows = std::vector<int64_t>;
using Words = std::vector<std::string>;

class DatasetTableTest : public test::DatasetFolderTest {
 protected:
  std::string file(const char* name, std::string_view content) {
    return folder_.write(name, content).string();
  }
};

TEST_F(DatasetTableTest, OnlyNumbersAreScaled) {
  DataConfig data = table("a,k,y\n2,p,u\n,q,v\n6,p,u\n4,q,v\n");
  data.missing_indicator = true;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.schema.feature_names, (Words{"a", "a is missing", "k=p", "k=q"}));
  EXPECT_EQ(datasets.schema.num_features(), 4);
  EXPECT_EQ(datasets.schema.scaling.shift, (Floats{4, 0, 0, 0}));
  EXPECT_EQ(datasets.schema.scaling.scale,
            (Floats{static_cast<float>(1 / std::sqrt(2.0)), 1, 1, 1}));
}

TEST_F(DatasetTableTest, TwoCategoriesCanBeASign) {
  DataConfig data = table("k,c,a,y\nq,r,1,u\np,s,2,v\n,t,3,u\nq,r,4,v\n");
  data.binary = config::BinaryEncoding::kSign;
  data.validation_path = file("v.csv", "k,c,a,y\nz,r,1,u\n");
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.schema.feature_names, (Words{"k=q", "c=r", "c=s", "c=t", "a"}));
  EXPECT_EQ(features(datasets.train),
            (Floats{1, 1, 0, 0, 1, -1, 0, 1, 0, 2, 0, 0, 0, 1, 3, 1, 1, 0, 0, 4}));
  EXPECT_EQ(features(datasets.validation), (Floats{0, 1, 0, 0, 1}));
  EXPECT_EQ(datasets.schema.scaling.scale[0], 1);
  EXPECT_EQ(datasets.notes[1], "\"k\": categorical (text), 2 categories, -1 or 1, 1 missing: 0");
}

TEST_F(DatasetTableTest, CategoriesCanBeScaledAndClippedLikeNumbers) {
  DataConfig data = table("a,k,e,y\n2,p,1,u\n4,q,2,v\n6,p,3,u\n4,q,1,v\n");
  data.categorical = {"e"};
  data.embed_above = 2;
  data.smooth_clip = 4;
  data.scaling = config::ScalingMethod::kMinMax;
  const Datasets unscaled = load_datasets(data, 1);
  EXPECT_EQ(unscaled.schema.scaling.scale, (Floats{0.25F, 1, 1, 1}));
  EXPECT_EQ(unscaled.schema.scaling.inverse_limit, (Floats{0.25F, 0, 0, 0}));
  data.scale_categories = true;
  data.scaling = config::ScalingMethod::kStandard;
  const Datasets scaled = load_datasets(data, 1);
  EXPECT_EQ(scaled.schema.scaling.shift, (Floats{4, 0.5F, 0.5F, 0}));
  EXPECT_EQ(scaled.schema.scaling.scale[1], 2);
  EXPECT_EQ(scaled.schema.scaling.inverse_limit, (Floats{0.25F, 0.25F, 0.25F, 0}));
}

TEST_F(DatasetTableTest, SaysWhatColumnsWereTakenFor) {
  DataConfig data =
      table("row,a,k,c,text,y\n1,2,p,8,x,0\n2,,q,8," + std::string(1001, 'x') + ",1\n3,4,,4,x,0\n");
  data.id = {"row"};
  data.categorical = {"c"};
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.notes,
            (Words{"1 numeric, 2 categorical, 2 not used as features (\"row\" and \"text\")",
                   "\"row\": row identifier", "\"a\": numeric, 1 missing: filled with the mean 3",
                   "\"k\": categorical (text), 2 categories, 1 missing: a separate category",
                   "\"c\": categorical, 2 categories",
                   "\"text\": dropped: long texts (over 1,000 bytes)"}));
  EXPECT_TRUE(datasets.warnings.empty());
  EXPECT_EQ(datasets.schema.columns.size(), 5u);
}

TEST_F(DatasetTableTest, ManyCategoriesAreEmbeddedAndNotScaled) {
  DataConfig data = table("k,a,y\np,2,u\nq,6,v\nr,4,u\nr,4,v\n");
  data.embed_above = 2;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.schema.feature_names, (Words{"a", "k"}));
  EXPECT_EQ(datasets.schema.scaling.shift, (Floats{4, 0}));
  EXPECT_EQ(datasets.schema.scaling.scale, (Floats{static_cast<float>(1 / std::sqrt(2.0)), 1}));
  EXPECT_EQ(features(datasets.train), (Floats{2, 0, 6, 1, 4, 2, 4, 2}));
  EXPECT_EQ(datasets.notes,
            (Words{"1 numeric, 1 categorical",
                   "\"k\": categorical (text), 3 categories, embedding of size 3"}));
  const network::NetworkSpec network = network::build({}, datasets.schema);
  EXPECT_EQ(network.num_features, 2);
  EXPECT_EQ(network::summary(network), "4-128-128-2 relu, embeddings 4x3");
}

TEST_F(DatasetTableTest, AnUnknownCategoryOfAnotherFileHasTheLastNumber) {
  DataConfig data = table("k,a,y\np,2,u\nq,6,v\nr,4,u\nr,4,v\n");
  data.embed_above = 2;
  data.validation_path = file("v.csv", "a,y,k\n1,u,s\n2,u,q\n3,v,\n");
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(features(datasets.validation), (Floats{1, 3, 2, 1, 3, 3}));
  EXPECT_EQ(datasets.warnings,
            (Words{"column \"k\": 2 rows of data.validation_path have a category that does not "
                   "occur in the training split; treated as unknown (data.unknown_category)"}));
}

TEST_F(DatasetTableTest, ASizeOfEmbeddingsWithoutAnyIsAnError) {
  DataConfig data = table("k,a,y\np,2,u\nq,6,v\n");
  data.embedding_size = 4;
  const Error error = test::error_of([&] { load_datasets(data, 1); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(),
               "data.embedding_size: has no effect: no categorical column has more than 16 "
               "categories (data.embed_above); lower data.embed_above or remove this key");
}

TEST_F(DatasetTableTest, PlacesAmongQuantilesAreTheFeatures) {
  DataConfig data = table("a,k,y\n10,p,0\n20,q,1\n90,p,0\n");
  data.scaling = config::ScalingMethod::kQuantile;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(features(datasets.train), (Floats{-1, 1, 0, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(datasets.schema.scaling.shift, (Floats{0, 0, 0}));
  EXPECT_EQ(datasets.schema.scaling.scale, (Floats{1, 1, 1}));
}

TEST_F(DatasetTableTest, SaysNothingOfPlainNumbers) {
  EXPECT_TRUE(load_datasets(table("a,b,y\n1,4,0\n2,3,1\n"), 1).notes.empty());
}

TEST_F(DatasetTableTest, NamesConstantAndRepeatedColumns) {
  const Datasets datasets = load_datasets(
      table("a,one,b,k,copy,two,y\n1,5,7,p,1,0,0\n2,5,7.5,p,2,0,1\n3,5,7,p,3,0,0\n"), 1);
  EXPECT_EQ(
      datasets.notes,
      (Words{
          "5 numeric, 1 categorical", "\"k\": categorical (text), 1 category",
          "constant in the training split: \"one\", \"k\" and \"two\"; constant columns carry "
          "no information, drop them with data.ignore",
          "duplicates of another column: \"copy\" (same as \"a\"); drop them with data.ignore"}));
}

TEST_F(DatasetTableTest, TellsNoMoreThanEightConstantColumns) {
  std::string header;
  std::string zeros;
  for (int i = 0; i < 10; ++i) {
    header += "c" + std::to_string(i) + ",";
    zeros += "0,";
  }
  const Datasets datasets =
      load_datasets(table(header + "a,y\n" + zeros + "1,0\n" + zeros + "2,1\n"), 1);
  EXPECT_EQ(
      datasets.notes,
      Words{
          "constant in the training split: \"c0\", \"c1\", \"c2\", \"c3\", \"c4\", \"c5\", \"c6\", "
          "\"c7\" and 2 more; constant columns carry no information, drop them with data.ignore"});
}

// ---- a column that divides the rows ----

constexpr const char* kParts =
    "part,a,k,y\ntest,9,r,0\ntrain,1,p,0\nval,2,q,1\ntrain,3,p,1\nValidation,4,,0\n";

TEST_F(DatasetTableTest, AColumnDividesTheRowsAndOnlyTheTrainingPartIsLearntFrom) {
  DataConfig data = table(kParts);
  data.split_column = "part";
  data.validation_fraction = 0.1;
  data.test_fraction = 0.1;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.schema.feature_names, (Words{"a", "k=p"}));
  EXPECT_EQ(datasets.train.source_lines, (Rows{3, 5}));
  EXPECT_EQ(datasets.validation.source_lines, (Rows{4, 6}));
  EXPECT_EQ(datasets.test.source_lines, Rows{2});
  EXPECT_EQ(features(datasets.train), (Floats{1, 1, 3, 1}));
  EXPECT_EQ(features(datasets.validation), (Floats{2, 0, 4, 0}));
  EXPECT_EQ(datasets.schema.scaling.shift, (Floats{2, 0}));
  EXPECT_EQ(datasets.notes.back(),
            "constant in the training split: \"k\"; constant columns carry no information, drop "
            "them with data.ignore");
  EXPECT_EQ(
      datasets.warnings,
      (Words{"column \"k\": 3 rows of the validation and test splits have a category that does not "
             "occur in the training split; treated as unknown (data.unknown_category)"}));
}

TEST_F(DatasetTableTest, RefusesAnUnknownCategoryIfThatIsWanted) {
  DataConfig data = table(kParts);
  data.split_column = "part";
  data.unknown_category = config::UnknownCategory::kError;
  EXPECT_EQ(problem(data),
            "t.csv:2: column \"k\": expected a category of the training split, got \"r\"; correct "
            "it, or train with data.unknown_category: unknown");
}

TEST_F(DatasetTableTest, RefusesALabelThatIsOnlyInTheValidationPart) {
  DataConfig data = table("part,a,y\ntrain,1,u\nval,2,w\ntrain,3,v\n");
  data.split_column = "part";
  EXPECT_EQ(problem(data),
            "t.csv:3: column \"y\": the label \"w\" does not occur in the training split; split "
            "the rows differently or remove rows with this label");
}

TEST_F(DatasetTableTest, RefusesASplitColumnWithoutTrainingRows) {
  DataConfig data = table("part,a,y\ntest,1,u\nval,2,w\n");
  data.split_column = "part";
  EXPECT_EQ(problem(data),
            "t.csv: column \"part\": expected at least one row with train, got none");
}

// ---- groups ----

TEST_F(DatasetTableTest, AGroupIsNeverInTwoParts) {
  std::string content = "who,a,y\n";
  for (int i = 0; i < 200; ++i) {
    content +=
        "g" + std::to_string(i % 20) + "," + std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  }
  DataConfig data = table(content);
  data.group = "who";
  data.validation_fraction = 0.2;
  data.test_fraction = 0.1;
  data.task = config::Task::kRegression;
  const Datasets datasets = load_datasets(data, 3);
  EXPECT_EQ(datasets.validation.size(), 40);
  EXPECT_EQ(datasets.test.size(), 20);
  std::vector<std::string> part_of_group(20);
  for (const auto& [part, name] : {std::pair{&datasets.train, "train"},
                                   {&datasets.validation, "validation"},
                                   {&datasets.test, "test"}}) {
    for (const int64_t line : part->source_lines) {
      std::string& known = part_of_group[static_cast<size_t>(line - 2) % 20];
      EXPECT_TRUE(known.empty() || known == name) << line;
      known = name;
    }
  }
  EXPECT_EQ(load_datasets(data, 3).test.source_lines, datasets.test.source_lines);
  EXPECT_NE(load_datasets(data, 4).test.source_lines, datasets.test.source_lines);
  EXPECT_EQ(datasets.schema.feature_names, Words{"a"});
  EXPECT_EQ(std::count(datasets.notes.begin(), datasets.notes.end(),
                       "\"who\": dropped: it groups the rows (data.group)"),
            1);
}

// ---- splits in files of their own ----

TEST_F(DatasetTableTest, ReadsPartsFromTheirFiles) {
  DataConfig data = table("a,k,y\n1,p,u\n3,q,v\n");
  data.validation_path = file("val.csv", "k,new,y,a\nq,1,v,8\n,2,u,\n");
  data.test_path = file("test.tsv", "y\ta\tk\nu\t5\tz\n");
  data.validation_fraction = 0.1;
  data.test_fraction = 0.1;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.train.source_lines, (Rows{2, 3}));
  EXPECT_EQ(features(datasets.validation), (Floats{8, 0, 1, 2, 0, 0}));
  EXPECT_EQ(datasets.validation.classes, (Rows{1, 0}));
  EXPECT_EQ(datasets.validation.source_lines, (Rows{2, 3}));
  EXPECT_EQ(features(datasets.test), (Floats{5, 0, 0}));
  ASSERT_EQ(datasets.fingerprints.size(), 3u);
  EXPECT_TRUE(datasets.fingerprints[2].path.ends_with("/test.tsv"));
  EXPECT_EQ(datasets.warnings,
            (Words{"column \"k\": 1 row of data.validation_path has a category that does not occur "
                   "in the training split; treated as unknown (data.unknown_category)",
                   "column \"k\": 1 row of data.test_path has a category that does not occur in "
                   "the training split; treated as unknown (data.unknown_category)"}));
}

TEST_F(DatasetTableTest, RefusesALabelThatIsOnlyInTheValidationFile) {
  DataConfig data = table("a,y\n1,u\n3,v\n");
  data.validation_path = file("val.csv", "a,y\n1,u\n2,w\n");
  EXPECT_EQ(problem(data),
            "val.csv:3: column \"y\": the label \"w\" does not occur in the training data t.csv");
}

TEST_F(DatasetTableTest, RefusesAFileThatLacksAColumn) {
  DataConfig data = table("a,b,y\n1,2,u\n3,4,v\n");
  data.test_path = file("test.csv", "a,y\n1,u\n");
  EXPECT_EQ(
      problem(data),
      "test.csv:1: expected the columns of the training data; missing from the header: \"b\"");
}

// ---- labels ----

TEST_F(DatasetTableTest, RefusesLabelsThatAreNoUtf8OrVeryLong) {
  EXPECT_EQ(problem(table("a,y\n1,u\n2,caf\xE9\n")),
            "t.csv:3: column \"y\": expected a label in UTF-8, got \"caf\\xe9\"; save the file as "
            "UTF-8");
  EXPECT_EQ(problem(table("a,y\n1,u\n2," + std::string(1'000'000, 'x') + "\n")),
            "t.csv:3: column \"y\": expected a label of at most 1,000 bytes, got 1,000,000 bytes: "
            "\"" +
                std::string(60, 'x') + "...\"; check for an unclosed quote");
}

TEST_F(DatasetTableTest, AnotherTableBecomesWhatTrainingMadeOfIt) {
  DataConfig data = table("a,k,u,y\n2,p,1,10\n,q,2,20\n6,p,3,60\n");
  data.target = {"y", "u"};
  data.task = config::Task::kRegression;
  const Datasets trained = load_datasets(data, 1);
  const auto path = folder_.write("new.csv", "y,u,k,a\n10,1,p,2\n20,2,z,\n60,3,p,6\n");
  TableReader pieces({path}, {trained.schema.columns, trained.schema.target_names});
  Rows num_unknown;
  Floats values;
  Rows source_lines;
  for (Table piece; pieces.next(piece, 2); piece = {}) {
    const Dataset part = apply_schema(std::move(piece), trained.schema, data.path, num_unknown);
    values.insert(values.end(), part.values.begin(), part.values.end());
    source_lines.insert(source_lines.end(), part.source_lines.begin(), part.source_lines.end());
  }
  EXPECT_EQ(values, trained.train.values);
  EXPECT_EQ(source_lines, (Rows{2, 3, 4}));
  EXPECT_EQ(num_unknown, (Rows{0, 1}));
}

// ---- by time ----

constexpr const char* kDays =
    "day,a,y\n2026-01-05,5,u\n2026-01-01,1,v\n2026-01-04T12:00,4,u\n2026-01-02,2,v\n"
    "2026-01-03,3,u\n";

TEST_F(DatasetTableTest, RowsAreDividedByADateThatIsNoFeature) {
  DataConfig data = table(kDays);
  data.split = config::SplitMethod::kChronological;
  data.time = "day";
  data.validation_fraction = 0.2;
  data.test_fraction = 0.2;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.train.source_lines, (Rows{3, 5, 6}));
  EXPECT_EQ(datasets.validation.source_lines, Rows{4});
  EXPECT_EQ(datasets.test.source_lines, Rows{2});
  EXPECT_EQ(datasets.schema.feature_names, Words{"a"});
  EXPECT_EQ(datasets.notes.back(), "\"day\": dropped: it orders the rows (data.time)");
  EXPECT_EQ(datasets.schema.target_means, (std::vector<double>{1.0 / 3, 2.0 / 3}));
}

TEST_F(DatasetTableTest, ATimeThatIsListedAsANumberIsAFeatureToo) {
  DataConfig data = table("t,a,y\n3,5,u\n1,1,v\n2,4,u\n");
  data.split = config::SplitMethod::kChronological;
  data.time = "t";
  data.numeric = {"t"};
  data.test_fraction = 0.4;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.schema.feature_names, (Words{"t", "a"}));
  EXPECT_EQ(datasets.test.source_lines, Rows{2});
  EXPECT_EQ(features(datasets.test), (Floats{3, 5}));
}

TEST_F(DatasetTableTest, RefusesTimesThatCannotBeCompared) {
  const auto problem_of = [&](std::string_view content) {
    DataConfig data = table(content);
    data.split = config::SplitMethod::kChronological;
    data.time = "t";
    return problem(data);
  };
  EXPECT_EQ(problem_of("t,a,y\n2026-01-01,1,0\n,2,1\n"),
            "t.csv:3: column \"t\": expected a time, a number or a date such as 2026-03-01 or "
            "2026-03-01T12:30:00, got an empty field");
  EXPECT_EQ(
      problem_of("t,a,y\n01/02/2026,1,0\n"),
      "t.csv:2: column \"t\": expected a time, a number or a date such as 2026-03-01 or "
      "2026-03-01T12:30:00, got \"01/02/2026\"; set data.date_order: day_first or month_first");
  EXPECT_EQ(problem_of("t,a,y\n2026-01-01,1,0\n20260102,2,1\n"),
            "t.csv:3: column \"t\": expected a date as in previous rows, got \"20260102\"");
  EXPECT_EQ(problem_of("when,a,y\n2026-01-01,1,0\n"),
            "t.csv:1: data.time: column \"t\" is not in the header; the header has when, a and y");
}

TEST_F(DatasetTableTest, SeveralColumnsWithUnknownCategoriesAreOneWarning) {
  DataConfig data = table("k,m,a,y\np,r,2,u\nq,s,6,v\n");
  data.validation_path = file("v.csv", "k,m,a,y\nx,r,1,u\nz,t,2,v\n");
  EXPECT_EQ(
      load_datasets(data, 1).warnings,
      Words{"columns \"k\" (2 rows) and \"m\" (1 row): categories in data.validation_path that do "
            "not occur in the training split; treated as unknown (data.unknown_category)"});
}

// ---- what columns and scalings are fitted to ----

TEST_F(DatasetTableTest, MembersOfAnEnsembleHaveTheSameSchema) {
  std::string content = "a,b,y\n";
  for (int i = 0; i < 40; ++i) {
    content += std::to_string(0.1 * i) +
               (i == 7       ? ",rare,"
                : i % 2 == 0 ? ",u,"
                             : ",v,") +
               std::to_string(0.3 * i * i) + "\n";
  }
  DataConfig data = table(content);
  data.target = {"y"};
  data.task = config::Task::kRegression;
  data.scaling = config::ScalingMethod::kRobust;
  data.clip_predictions = true;
  data.test_fraction = 0.25;
  data.validation_folds = 3;
  data.fit_on = config::FitOn::kTrainAndValidation;
  const Datasets first = load_datasets(data, 1);
  data.validation_fold = 2;
  const Datasets second = load_datasets(data, 1);
  EXPECT_NE(first.validation.source_lines, second.validation.source_lines);
  EXPECT_EQ(first.test.source_lines, second.test.source_lines);
  EXPECT_EQ(first.schema, second.schema);
  data.fit_on = config::FitOn::kTrain;
  EXPECT_NE(load_datasets(data, 1).schema, second.schema);
}

TEST_F(DatasetTableTest, AllRowsCanBeFittedTo) {
  DataConfig data = table("a,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,0\n80,1\n");
  data.target = {"y"};
  data.scaling = config::ScalingMethod::kMinMax;
  data.validation_fraction = 0.25;
  data.test_fraction = 0.25;
  data.fit_on = config::FitOn::kAll;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.schema.scaling.shift.front() + datasets.schema.scaling.offset_of(0), 1);
  EXPECT_FLOAT_EQ(1 / datasets.schema.scaling.scale.front(), 79);
}

// The only row of a class is in one validation fold, where the other members do train on it.
TEST_F(DatasetTableTest, AClassOfOneRowNeedsAFitOnAllFolds) {
  DataConfig data = table("a,y\n1,u\n2,v\n3,u\n4,v\n5,u\n6,v\n7,u\n8,w\n");
  data.target = {"y"};
  data.test_fraction = 0;
  data.validation_folds = 2;
  int num_refused = 0;
  for (data.validation_fold = 1; data.validation_fold <= 2; ++data.validation_fold) {
    data.fit_on = config::FitOn::kTrainAndValidation;
    EXPECT_EQ(load_datasets(data, 1).schema.labels.size(), 3U);
    data.fit_on = config::FitOn::kTrain;
    try {
      load_datasets(data, 1);
    } catch (const Error& error) {
      ++num_refused;
      EXPECT_EQ(std::string(error.what()),
                data.path +
                    ":9: column \"y\": the label \"w\" does not occur in the training "
                    "split; split the rows differently or remove rows with this label");
    }
  }
  EXPECT_EQ(num_refused, 1);
}

}  // namespace
}  // namespace trainer::data
