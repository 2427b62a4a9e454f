// SPDX-License-Identifier: Apache-2.0
// Numbers that float32 would lose: large ones that hardly differ.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/config/data_config.h"
#include "trainer/table/dataset.h"

#include "support/datasets.h"
#include "support/error_of.h"
#include "support/npy.h"

namespace trainer::data {
namespace {

using Floats = std::vector<float>;
using Numbers = std::vector<double>;

class DatasetOffsetsTest : public test::DatasetFolderTest {
 protected:
  /// Rows "t,y" with t = i and y = i * i / 100, and what is to be added to both.
  static std::string rows(int begin, int end, double to_t, double to_y) {
    std::string text = "t,y\n";
    for (int i = begin; i < end; ++i) {
      text += fmt::format("{},{:.2f}\n", to_t + i, to_y + i * i / 100.0);
    }
    return text;
  }
  config::DataConfig table(const std::string& content) {
    config::DataConfig data = DatasetFolderTest::table(content);
    data.scaling = config::ScalingMethod::kNone;
    return data;
  }
};

TEST_F(DatasetOffsetsTest, CellsAndTargetsKeepWhatTellsThemApart) {
  config::DataConfig data = table(rows(0, 100, 1.7e9, 1e9));
  data.test_path = folder_.write("test.csv", rows(-5, 2, 1.7e9, 1e9)).string();
  const Datasets datasets = load_datasets(data, 1);
  const Schema& schema = datasets.schema;
  ASSERT_EQ(schema.scaling.offset.size(), 1U);
  EXPECT_EQ(schema.scaling.offset[0], schema.columns[0].offset);
  const double offset = schema.scaling.offset[0] - 1.7e9;
  const Array<float> train = features(datasets.train);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(train[static_cast<size_t>(i)], i - offset);
  EXPECT_EQ(features(datasets.test)[0], -5 - offset);  // by the offset of the training file

  const Numbers targets = unscaled(schema.target_scaling, datasets.train.values);
  for (int i = 0; i < 100; ++i) {
    EXPECT_NEAR(targets[static_cast<size_t>(i)], 1e9 + i * i / 100.0, 1e-5);
  }
  EXPECT_NEAR(unscaled(schema.target_scaling, datasets.test.values)[0], 1e9 + 0.25, 1e-5);
  EXPECT_EQ(datasets.notes.front(), "1 numeric");
  EXPECT_EQ(datasets.notes[1],
            fmt::format("\"t\": numeric, minus offset {}", schema.columns[0].offset));
}

TEST_F(DatasetOffsetsTest, OrdinaryTablesHaveNone) {
  const Schema schema = load_datasets(table(rows(0, 100, 2000, 30)), 1).schema;
  EXPECT_TRUE(schema.scaling.offset.empty());
  EXPECT_TRUE(schema.target_scaling.offset.empty());
  EXPECT_EQ(schema.columns[0].offset, 0);
}

// A run that was begun without offsets goes on without.
TEST_F(DatasetOffsetsTest, ThoseOfATrainedModelAreTaken) {
  const config::DataConfig data = table(rows(0, 100, 1.7e9, 1e9));
  Schema trained = load_datasets(data, 1).schema;
  trained.columns[0].offset = 0;
  trained.target_scaling.offset.clear();
  const Datasets datasets = load_datasets(data, 1, &trained);
  EXPECT_TRUE(datasets.schema.scaling.offset.empty());
  EXPECT_EQ(features(datasets.train)[1], 1.7e9F);
}

TEST_F(DatasetOffsetsTest, FillsAreInTheUnitsOfTheFile) {
  config::DataConfig data = table(rows(0, 50, 1.7e9, 0) + ",3\n");
  data.fill = config::Imputation::kConstant;
  data.fill_value = 1.7e9 - 7;
  const Datasets datasets = load_datasets(data, 1);
  const Column& t = datasets.schema.columns[0];
  EXPECT_EQ(features(datasets.train).back() + t.offset, 1.7e9 - 7);
  EXPECT_EQ(
      datasets.notes[1],
      fmt::format("\"t\": numeric, minus offset {}, 1 missing: filled with 1699999993", t.offset));
}

TEST_F(DatasetOffsetsTest, OnlyATargetThatIsTheSameEverywhereIsRefused) {
  const config::DataConfig data = table("t,y\n1,100000000.25\n2,100000000.5\n3,100000000.25\n");
  EXPECT_EQ(load_datasets(data, 1).train.values.size(), 3U);
  config::DataConfig same = table("t,y\n1,1e8\n2,100000000\n");
  same.task = config::Task::kRegression;
  EXPECT_EQ(test::error_of([&] { load_datasets(same, 1); }).what(),
            same.path +
                ": column \"y\": every row has the value 1e8; a constant target cannot be learned");
}

std::string npy(const char* shape, const Numbers& values) {
  return test::npy_file(test::npy_header("<f8", shape), test::element_bytes(values));
}

TEST_F(DatasetOffsetsTest, ArraysHaveThemByColumn) {
  Numbers x;
  Numbers y;
  for (int i = 0; i < 40; ++i) {
    x.insert(x.end(), {i * 0.5, 1.7e9 + i * 0.25});
    y.push_back(1e9 + i * 0.125);
  }
  config::DataConfig data;
  data.source = config::Source::kNpy;
  data.validation_fraction = 0;
  data.scaling = config::ScalingMethod::kNone;
  data.npy.features = folder_.write("x.npy", npy("(40, 2)", x)).string();
  data.npy.targets = folder_.write("y.npy", npy("(40,)", y)).string();
  data.npy.test_features = folder_.write("x2.npy", npy("(1, 2)", {3, 1.7e9 - 1})).string();
  data.npy.test_targets = folder_.write("y2.npy", npy("(1,)", {1e9 - 1})).string();
  const Datasets datasets = load_datasets(data, 1);
  const Schema& schema = datasets.schema;
  ASSERT_EQ(schema.scaling.offset.size(), 2U);
  EXPECT_EQ(schema.scaling.offset[0], 0);
  const double offset = schema.scaling.offset[1];
  EXPECT_EQ(features(datasets.train)[2], 0.5F);
  EXPECT_EQ(features(datasets.train)[3] + offset, 1.7e9 + 0.25);
  EXPECT_EQ(features(datasets.test)[1] + offset, 1.7e9 - 1);
  EXPECT_NEAR(unscaled(schema.target_scaling, datasets.train.values)[1], 1e9 + 0.125, 1e-6);
  EXPECT_NEAR(unscaled(schema.target_scaling, datasets.test.values)[0], 1e9 - 1, 1e-6);
}

}  // namespace
}  // namespace trainer::data
