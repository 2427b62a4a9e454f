// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/dataset.h"

#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "trainer/config/data_config.h"

#include "support/datasets.h"
#include "support/idx.h"

namespace trainer::data {
namespace {

using config::DataConfig;
using config::Task;
using Classes = std::vector<int64_t>;
using Floats = std::vector<float>;
using Labels = std::vector<std::string>;

using test::idx_file;

class DatasetTest : public test::DatasetFolderTest {
 protected:
  /// A file with the feature `a` and this target, nothing of it set apart.
  DataConfig csv(const Labels& target, Task task = Task::kAuto) {
    std::string content = "a,y\n";
    for (size_t i = 0; i < target.size(); ++i)
      content += std::to_string(i) + ',' + target[i] + '\n';
    DataConfig data = table(content);
    data.target_scaling = config::ScalingMethod::kNone;
    data.task = task;
    return data;
  }
  DataConfig idx_files(std::string_view test_labels, const std::vector<uint32_t>& test_sizes) {
    DataConfig data;
    data.source = config::Source::kIdx;
    data.idx.train_images = folder_.write("train_images", idx_file({4, 1, 2}, "abcdefgh")).string();
    data.idx.train_labels =
        folder_.write("train_labels", idx_file({4}, "\x07\x09\x07\x09")).string();
    data.validation_fraction = 0.5;
    data.test_fraction = 0;
    if (test_sizes.empty()) return data;
    const size_t num_bytes = size_t{test_sizes[0]} * test_sizes[1] * test_sizes[2];
    data.idx.test_images =
        folder_.write("test_images", idx_file(test_sizes, std::string(num_bytes, 'x'))).string();
    data.idx.test_labels =
        folder_.write("test_labels", idx_file({test_sizes[0]}, test_labels)).string();
    return data;
  }
};

// ---- task and labels ----

TEST_F(DatasetTest, TakesTextForClassesSortedByBytes) {
  const Datasets datasets = load_datasets(csv({"b", "a", "10", "b"}), 1);
  EXPECT_EQ(datasets.schema.task, Task::kClassification);
  EXPECT_EQ(datasets.schema.labels, (Labels{"10", "a", "b"}));
  EXPECT_EQ(datasets.schema.num_outputs(config::Loss::kAuto), 3);
  EXPECT_EQ(datasets.train.classes, (Classes{2, 1, 0, 2}));
  EXPECT_TRUE(datasets.train.values.empty());
}

TEST_F(DatasetTest, TakesFewWholeNumbersForClassesSortedByValue) {
  const Datasets datasets = load_datasets(csv({"10", "9", "-1.0", "9"}), 1);
  EXPECT_EQ(datasets.schema.task, Task::kClassification);
  EXPECT_EQ(datasets.schema.labels, (Labels{"-1.0", "9", "10"}));
  EXPECT_EQ(datasets.train.classes, (Classes{2, 1, 0, 1}));
}

TEST_F(DatasetTest, TakesOtherNumbersForValues) {
  const Datasets datasets = load_datasets(csv({"1", "2.5", "1"}), 1);
  EXPECT_EQ(datasets.schema.task, Task::kRegression);
  EXPECT_EQ(datasets.schema.num_outputs(config::Loss::kAuto), 1);
  EXPECT_EQ(datasets.train.values, (Floats{1, 2.5f, 1}));
  EXPECT_TRUE(datasets.train.classes.empty());
}

TEST_F(DatasetTest, TakesManyWholeNumbersForValues) {
  Labels target;
  for (int i = 0; i < 20; ++i) target.push_back(std::to_string(2 * i));
  const Datasets classes = load_datasets(csv(target), 1);
  EXPECT_EQ(classes.schema.task, Task::kClassification);
  EXPECT_EQ(classes.task_reason, "because it has 20 distinct integer values");
  target.emplace_back("100");
  const Datasets values = load_datasets(csv(target), 1);
  EXPECT_EQ(values.schema.task, Task::kRegression);
  EXPECT_EQ(values.task_reason, "because it has 21 distinct integer values");
}

TEST_F(DatasetTest, ObeysTheTaskThatIsAskedFor) {
  EXPECT_EQ(load_datasets(csv({"0", "1"}, Task::kRegression), 1).train.values, (Floats{0, 1}));
  EXPECT_EQ(load_datasets(csv({"0.5", "0.25"}, Task::kClassification), 1).schema.labels,
            (Labels{"0.25", "0.5"}));
}

TEST_F(DatasetTest, SpellingsOfOneNumberAreOneLabel) {
  const Datasets datasets = load_datasets(csv({"2", "1.0", "1", "+1", "2e0"}), 1);
  EXPECT_EQ(datasets.schema.labels, (Labels{"1", "2"}));
  EXPECT_EQ(datasets.train.classes, (Classes{1, 0, 0, 0, 1}));
  EXPECT_EQ(
      problem(csv({"1", "1.0"})),
      "t.csv: column \"y\": every row has the label \"1\"; a constant target cannot be learned");
  EXPECT_EQ(problem(csv({"2", "1", "01"})),
            "t.csv:4: column \"y\": \"01\" is the same number as the label \"1\" above; use one "
            "spelling");
  EXPECT_EQ(load_datasets(csv({"1", "1.0", "2.5"}), 1).train.values, (Floats{1, 1, 2.5f}));
}

TEST_F(DatasetTest, RefusesAConstantTarget) {
  EXPECT_EQ(
      problem(csv({"cat", "cat"})),
      "t.csv: column \"y\": every row has the label \"cat\"; a constant target cannot be learned");
  EXPECT_EQ(
      problem(csv({"1.5", "1.50"})),
      "t.csv: column \"y\": every row has the value 1.5; a constant target cannot be learned");
}

TEST_F(DatasetTest, RefusesTextAsARegressionTarget) {
  EXPECT_EQ(problem(csv({"1", "cat"}, Task::kRegression)),
            "t.csv:3: column \"y\": expected a number, got \"cat\"; correct it or set data.task: "
            "classification");
}

TEST_F(DatasetTest, NumbersThatAreWrittenOtherwiseAreNoClassesUnlessTheyAreToBe) {
  for (const std::string number : {"69%", "$12.50", "\"1,234\"", "\"3,5\""}) {
    std::string cell = number;
    std::erase(cell, '"');
    EXPECT_EQ(problem(csv({number, "9%", "2%", "cat"})),
              "t.csv:2: column \"y\": expected a number, got \"" + cell +
                  "\"; write numbers without units and marks between thousands, or set data.task: "
                  "classification");
  }
  EXPECT_EQ(load_datasets(csv({"69%", "9%", "9%"}, Task::kClassification), 1).schema.labels,
            (Labels{"69%", "9%"}));
  EXPECT_EQ(load_datasets(csv({"cat", "9%", "dog"}), 1).schema.labels,
            (Labels{"9%", "cat", "dog"}));
}

TEST_F(DatasetTest, RefusesInfinityAsARegressionTarget) {
  EXPECT_EQ(problem(csv({"1", "inf"})),
            "t.csv:3: column \"y\": expected a finite number, got \"inf\"");
  EXPECT_EQ(problem(csv({"1.5", "1e39"})),
            "t.csv:3: column \"y\": expected a finite number, got \"1e39\"");
}

TEST_F(DatasetTest, RefusesNamesAsClassesUnlessTheyAreAskedFor) {
  Labels target;
  for (int i = 0; i <= 1000; ++i) target.push_back("name" + std::to_string(i));
  EXPECT_EQ(problem(csv(target)),
            "t.csv: column \"y\": more than 1,000 distinct labels, the first is \"name0\"; choose "
            "another data.target, or set data.task: classification if all of them are classes");
  EXPECT_EQ(
      load_datasets(csv(target, Task::kClassification), 1).schema.num_outputs(config::Loss::kAuto),
      1001);
}

TEST_F(DatasetTest, RefusesQuantitiesAsClasses) {
  Labels target;
  for (int i = 0; i <= 1000; ++i) target.push_back(std::to_string(i) + ".5");
  EXPECT_EQ(problem(csv(target, Task::kClassification)),
            "t.csv: column \"y\": more than 1,000 distinct non-integer numbers are not classes; "
            "set data.task: regression");
}

TEST_F(DatasetTest, LabelsThatDifferInTheirLastDigitAreDifferent) {
  const Labels target = {"20240115000000001", "20240115000000000", "20240115000000001"};
  const Datasets datasets = load_datasets(csv(target, Task::kClassification), 1);
  EXPECT_EQ(datasets.schema.labels, (Labels{"20240115000000000", "20240115000000001"}));
  EXPECT_EQ(datasets.train.classes, (Classes{1, 0, 1}));
}

TEST_F(DatasetTest, BooleansAreOneLabelInAnyCapitals) {
  const Datasets datasets = load_datasets(csv({"True", "false", "TRUE", "False"}), 1);
  EXPECT_EQ(datasets.schema.labels, (Labels{"False", "TRUE"}));
  EXPECT_EQ(datasets.train.classes, (Classes{1, 0, 1, 0}));
}

TEST_F(DatasetTest, ATextAmongNumbersIsNoClass) {
  EXPECT_EQ(problem(csv({"1.5", "unknown", "2.5"})),
            "t.csv:3: column \"y\": expected a number, got \"unknown\"; correct it or set "
            "data.task: classification");
  EXPECT_EQ(load_datasets(csv({"1.5", "unknown", "2.5"}, Task::kClassification), 1).schema.labels,
            (Labels{"1.5", "2.5", "unknown"}));
}

TEST_F(DatasetTest, WarnsOfLabelsThatAreHardlyClasses) {
  Labels target;
  for (int i = 0; i < 11; ++i) target.push_back("No. " + std::to_string(100 + i));
  EXPECT_EQ(load_datasets(csv(target), 1).warnings,
            Labels{"target \"y\": almost every label is different (11 distinct in 11 rows), the "
                   "first is \"No. 100\"; if they are no classes, write them as numbers or choose "
                   "another data.target"});
  EXPECT_EQ(
      load_datasets(csv({"Yes", "no", "yes", "caf\u00e9", "cafe\u0301"}), 1).warnings,
      Labels{"target \"y\": labels that differ only in capitals or in how Unicode writes their "
             "letters are different classes: \"cafe\u0301\", \"caf\u00e9\", \"Yes\" and "
             "\"yes\""});
}

TEST_F(DatasetTest, AClassThatIsCalledNoneIsNotDroppedInSilence) {
  EXPECT_EQ(
      problem(csv({"a", "None", "b"})),
      "t.csv:3: column \"y\": expected a target, got \"None\", a missing value; if it is a "
      "class, set data.missing to a list without it; else fill it in, remove the row, or drop "
      "all such rows with data.drop_rows_without_target: true");
}

// ---- sources and splits ----

TEST_F(DatasetTest, SplitsATableAndFitsTheScalingOnTheTrainingPart) {
  DataConfig data = csv({"p", "q", "p", "q", "p", "q", "p", "q", "p", "q"});
  data.validation_fraction = 0.2;
  data.test_fraction = 0.4;
  data.scaling = config::ScalingMethod::kMinMax;
  const Datasets datasets = load_datasets(data, 3);
  EXPECT_EQ(datasets.train.classes.size(), 4u);
  EXPECT_EQ(datasets.validation.size(), 2);
  EXPECT_EQ(datasets.test.size(), 4);
  const auto& train = std::get<Array<float>>(datasets.train.features.values);
  for (size_t i = 0; i < train.size(); ++i) {  // the row number is the feature: parity is the class
    EXPECT_EQ(static_cast<int64_t>(train[i]) % 2, datasets.train.classes[i]);
  }
  EXPECT_EQ(datasets.schema.scaling.shift, Floats{train.front()});
  EXPECT_EQ(datasets.schema.scaling.scale, Floats{1 / (train.back() - train.front())});
  EXPECT_EQ(datasets.schema.feature_names, Labels{"a"});
  EXPECT_EQ(datasets.schema.target_names.front(), "y");
  ASSERT_EQ(datasets.fingerprints.size(), 1u);
  EXPECT_EQ(datasets.fingerprints[0].path, data.path);
}

TEST_F(DatasetTest, SplitsRegressionTargetsWithTheirRows) {
  DataConfig data = csv({"0.5", "1.5", "2.5", "3.5", "4.5", "5.5"});
  data.test_fraction = 0.5;
  const Datasets datasets = load_datasets(data, 3);
  for (const Dataset* part : {&datasets.train, &datasets.test}) {
    ASSERT_EQ(part->values.size(), 3u);
    for (int64_t row = 0; row < 3; ++row) {
      EXPECT_EQ(part->values[static_cast<size_t>(row)], value_at(part->features, row, 0) + 0.5);
    }
  }
}

TEST_F(DatasetTest, SplitsClassesThatAreRarerThanParts) {
  DataConfig data = csv({"p", "p", "p", "p", "p", "p", "p", "p", "q", "r"});
  data.validation_fraction = 0.2;
  data.test_fraction = 0.2;
  const Datasets datasets = load_datasets(data, 3);
  EXPECT_EQ(datasets.train.size(), 6);
  EXPECT_EQ(datasets.validation.classes, (Classes{0, 0}));
  EXPECT_EQ(datasets.test.classes, (Classes{0, 0}));
}

TEST_F(DatasetTest, IsDeterministicInTheSeed) {
  DataConfig data;
  const auto test_values = [&](uint64_t seed) {
    return load_datasets(data, seed).test.features.values;
  };
  EXPECT_EQ(test_values(1), test_values(1));
  EXPECT_NE(test_values(1), test_values(2));
}

TEST_F(DatasetTest, MakesSyntheticDataByDefault) {
  const Datasets datasets = load_datasets({}, 42);
  EXPECT_EQ(datasets.train.size(), 800);
  EXPECT_EQ(datasets.validation.size(), 100);
  EXPECT_EQ(datasets.test.size(), 100);
  EXPECT_EQ(datasets.schema.num_features(), 10);
  EXPECT_EQ(datasets.schema.labels, (Labels{"0", "1"}));
  EXPECT_TRUE(datasets.fingerprints.empty());
}

TEST_F(DatasetTest, ReadsTheSampleData) {
  DataConfig data;
  data.source = config::Source::kCsv;
  data.path = std::string(TRAINER_SOURCE_DIR) + "/configs/data/digits.csv";
  data.target = {"digit"};
  const Datasets datasets = load_datasets(data, 42);
  EXPECT_EQ(datasets.schema.labels, (Labels{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
  EXPECT_EQ(datasets.train.size(), 1437);
  EXPECT_EQ(datasets.validation.size(), 180);
  EXPECT_EQ(datasets.test.size(), 180);
}

TEST_F(DatasetTest, ReadsTabsBySuffix) {
  DataConfig data = csv({"p", "q"});
  data.path = folder_.write("t.tsv", "a\ty\n1\tp\n2\tq\n").string();
  EXPECT_EQ(load_datasets(data, 1).schema.labels, (Labels{"p", "q"}));
}

// ---- IDX ----

TEST_F(DatasetTest, TakesTheTestPartFromTestFiles) {
  DataConfig data = idx_files("\x09\x07\x09", {3, 1, 2});
  data.test_fraction = 0.25;  // has no say then
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.schema.labels, (Labels{"7", "9"}));
  EXPECT_EQ(datasets.train.classes, (Classes{0, 1}));
  EXPECT_EQ(datasets.validation.size(), 2);
  EXPECT_EQ(datasets.test.classes, (Classes{1, 0, 1}));
  EXPECT_EQ(std::get<Array<uint8_t>>(datasets.train.features.values).size(), 4u);
  EXPECT_EQ(datasets.fingerprints.size(), 4u);
}

TEST_F(DatasetTest, SplitsTheTestPartOffWithoutTestFiles) {
  DataConfig data = idx_files("", {});
  data.validation_fraction = 0;
  data.test_fraction = 0.5;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.train.size(), 2);
  EXPECT_EQ(datasets.validation.size(), 0);
  EXPECT_EQ(datasets.test.size(), 2);
  EXPECT_EQ(datasets.fingerprints.size(), 2u);
}

TEST_F(DatasetTest, ReadsIdxLabelsAsValuesWhenAsked) {
  DataConfig data = idx_files("\x09\x0B\x09", {3, 1, 2});
  data.task = Task::kRegression;
  data.target_scaling = config::ScalingMethod::kNone;
  const Datasets datasets = load_datasets(data, 1);
  EXPECT_EQ(datasets.test.values, (Floats{9, 11, 9}));
}

TEST_F(DatasetTest, RefusesTestLabelsThatTrainingLacks) {
  EXPECT_EQ(problem(idx_files("\x09\x08\x09", {3, 1, 2})),
            "test_labels: item 2: column \"label\": the label \"8\" does not occur in the training "
            "data train_labels");
}

TEST_F(DatasetTest, RefusesTestImagesOfAnotherSize) {
  EXPECT_EQ(problem(idx_files("\x09\x07\x09", {3, 2, 2})),
            "test_images: expected 2 features per row as in train_images, got 4");
}

TEST_F(DatasetTest, ReadsFashionMnist) {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  DataConfig data;
  data.source = config::Source::kIdx;
  data.idx = {(folder / "train-images-idx3-ubyte.gz").string(),
              (folder / "train-labels-idx1-ubyte.gz").string(),
              (folder / "t10k-images-idx3-ubyte.gz").string(),
              (folder / "t10k-labels-idx1-ubyte.gz").string()};
  const Datasets datasets = load_datasets(data, 42);
  EXPECT_EQ(datasets.train.size(), 54'000);
  EXPECT_EQ(datasets.validation.size(), 6'000);
  EXPECT_EQ(datasets.test.size(), 10'000);
  EXPECT_EQ(datasets.schema.num_features(), 784);
  EXPECT_EQ(datasets.schema.num_outputs(config::Loss::kAuto), 10);
}

}  // namespace
}  // namespace trainer::data
