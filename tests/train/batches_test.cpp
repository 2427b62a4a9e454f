// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/batches.h"

#include <cstdint>
#include <vector>

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "support/tensors.h"

namespace trainer::train {
namespace {

using test::elements;
using test::identical;
using Floats = std::vector<float>;

data::Schema make_schema(config::Task task) {
  data::Schema schema;
  schema.task = task;
  schema.feature_names = {"a", "b"};
  schema.target_names = {"y"};
  schema.labels = {"0", "1", "2"};
  schema.scaling = {{1, 10}, {2, 0.5}};
  return schema;
}

const data::Schema kClasses = make_schema(config::Task::kClassification);
const data::Schema kNumbers = make_schema(config::Task::kRegression);
const data::Dataset kBytes = {{3, 2, std::vector<uint8_t>{1, 10, 2, 20, 255, 0}}, {2, 0, 1}, {}};
const data::Dataset kFloats = {{3, 2, Floats{1, 10, 2, 20, 255, 0}}, {2, 0, 1}, {}};

ResidentData resident(const data::Dataset& dataset) {
  return make_resident(dataset, kClasses, c10::kCPU);
}

at::Tensor rows(const std::vector<int64_t>& numbers) { return at::tensor(numbers, at::kLong); }

TEST(BatchesTest, AGatheredBatchHasTheNamedRowsScaled) {
  const ResidentData data = resident(kFloats);
  const Batch batch = gather(data, rows({2, 0}));
  EXPECT_EQ(batch.size(), 2);
  EXPECT_EQ(batch.features.sizes(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(elements(batch.features), (Floats{508, -5, 0, 0}));
  EXPECT_EQ(elements(batch.targets.values), (Floats{1, 2}));
}

TEST(BatchesTest, ASliceHasTheRowsInTheirOrder) {
  const ResidentData data = resident(kFloats);
  const Batch batch = slice(data, 1, 3);
  EXPECT_EQ(elements(batch.features), (Floats{2, 5, 508, -5}));
  EXPECT_EQ(elements(batch.targets.values), (Floats{0, 1}));
  EXPECT_TRUE(identical(slice(data, 0, 3).features, gather(data, rows({0, 1, 2})).features));
}

TEST(BatchesTest, BytesGiveTheBatchesOfTheSameNumbersAsFloats) {
  const ResidentData bytes = resident(kBytes);
  const ResidentData floats = resident(kFloats);
  EXPECT_EQ(bytes.features.scalar_type(), at::kByte);  // a quarter of the memory
  const Batch batch = gather(bytes, rows({1, 2, 0}));
  EXPECT_EQ(batch.features.scalar_type(), at::kFloat);
  EXPECT_TRUE(identical(batch.features, gather(floats, rows({1, 2, 0})).features));
  EXPECT_TRUE(identical(slice(bytes, 0, 3).features, slice(floats, 0, 3).features));
}

TEST(BatchesTest, ABatchIsACopyAndLeavesTheDataAlone) {
  const ResidentData data = resident(kFloats);
  slice(data, 0, 3).features.zero_();
  gather(data, rows({0})).features.zero_();
  EXPECT_EQ(elements(data.features), (Floats{1, 10, 2, 20, 255, 0}));
}

TEST(BatchesTest, OnTheCpuNothingIsCopied) {
  EXPECT_EQ(resident(kFloats).features.data_ptr(),
            std::get<Array<float>>(kFloats.features.values).data());
  EXPECT_EQ(resident(kBytes).targets.data_ptr(), kBytes.classes.data());
}

TEST(BatchesTest, TargetsOfRegressionAreAColumnOfFloats) {
  const data::Dataset dataset{{3, 2, Floats{1, 10, 2, 20, 255, 0}}, {}, {0.5F, -1, 2}};
  const ResidentData data = make_resident(dataset, kNumbers, c10::kCPU);
  const at::Tensor targets = gather(data, rows({2, 0})).targets.values;
  EXPECT_EQ(targets.sizes(), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(targets.scalar_type(), at::kFloat);
  EXPECT_EQ(elements(targets), (Floats{2, 0.5F}));
}

}  // namespace
}  // namespace trainer::train
