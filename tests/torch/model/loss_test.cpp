// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/loss.h"

#include <cmath>
#include <vector>

#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "support/test_device.h"

namespace trainer::model {
namespace {

using test::on_device;

const LossOptions kCrossEntropy{config::Loss::kCrossEntropy, 0.0};
const LossOptions kMse{config::Loss::kMse, 0.0};

at::Tensor floats(const std::vector<float>& values, int64_t columns) {
  return on_device(at::tensor(values, at::kFloat).view({-1, columns}));
}

at::Tensor classes(const std::vector<int64_t>& values) {
  return on_device(at::tensor(values, at::kLong));
}

TEST(LossTest, CrossEntropyIsSummedOverSamples) {
  // Equal logits: ln 3 each.
  const at::Tensor loss = loss_sum(floats({0, 0, 0, 5, 5, 5}, 3), classes({0, 2}), kCrossEntropy);
  EXPECT_EQ(loss.dim(), 0);
  EXPECT_NEAR(loss.item<double>(), 2 * std::log(3.0), 1e-6);
}

TEST(LossTest, LabelSmoothingSpreadsAPartOfTheTargetOverAllClasses) {
  // ln p is (-ln 4, ln 3 - ln 4); the target is (0.05, 0.95) instead of (0, 1).
  const at::Tensor logits = floats({0, std::log(3.0F)}, 2);
  const double expected = 0.05 * std::log(4.0) + 0.95 * (std::log(4.0) - std::log(3.0));
  EXPECT_NEAR(loss_sum(logits, classes({1}), {config::Loss::kCrossEntropy, 0.1}).item<double>(),
              expected, 1e-6);
}

TEST(LossTest, ExtremeLogitsGiveAFiniteLoss) {
  EXPECT_EQ(loss_sum(floats({1e4F, 0}, 2), classes({1}), kCrossEntropy).item<float>(), 1e4F);
  EXPECT_EQ(loss_sum(floats({1e4F, 0}, 2), classes({0}), kCrossEntropy).item<float>(), 0.0F);
}

TEST(LossTest, SquaredErrorIsSummedOverSamplesAndMeantOverOutputs) {
  const at::Tensor outputs = floats({1, 2, 3, 4}, 2);
  EXPECT_EQ(loss_sum(outputs, floats({0, 0, 0, 0}, 2), kMse).item<float>(), 15.0F);
  EXPECT_EQ(loss_sum(outputs.view({4, 1}), floats({1, 2, 3, 6}, 1), kMse).item<float>(), 4.0F);
}

TEST(LossTest, CountsSamplesWhoseLargestLogitIsTheTarget) {
  const at::Tensor outputs = floats({1, 2, 3, 9, 2, 3, 1, 2, 0}, 3);
  EXPECT_EQ(num_correct(outputs, classes({2, 0, 0}), kCrossEntropy).item<float>(), 2);
  EXPECT_EQ(num_correct(outputs, classes({0, 1, 2}), kCrossEntropy).item<float>(), 0);
}

TEST(LossTest, BinaryCrossEntropyIsThatOfTwoLogitsOfWhichOneIsZero) {
  const at::Tensor logits = floats({-3, -0.5F, 0, 2, 40}, 1);
  const at::Tensor both = at::cat({at::zeros_like(logits), logits}, 1);
  const at::Tensor targets = classes({0, 1, 1, 0, 1});
  EXPECT_NEAR(loss_sum(logits, targets, {config::Loss::kBinaryCrossEntropy}).item<double>(),
              loss_sum(both, targets, kCrossEntropy).item<double>(), 1e-6);
  EXPECT_EQ(num_correct(logits, targets, {config::Loss::kBinaryCrossEntropy}).item<float>(), 2);
}

TEST(LossTest, AbsoluteAndHuberLossesAreMeansOverTheOutputs) {
  const at::Tensor outputs = floats({1, -4}, 2);
  const at::Tensor targets = floats({0.5F, 0}, 2);
  EXPECT_EQ(loss_sum(outputs, targets, {config::Loss::kL1}).item<float>(), 2.25F);
  // 0.5^2 / 2 and 2 (4 - 1)
  EXPECT_EQ(loss_sum(outputs, targets, {config::Loss::kHuber, 0, 2.0}).item<float>(), 3.0625F);
}

TEST(LossTest, AWeightCountsASampleSoManyTimes) {
  const at::Tensor outputs = floats({1, 2, 3, 0, 2, 2}, 3);
  const at::Tensor weights = on_device(at::tensor(std::vector<float>{3, 0.5F}));
  const at::Tensor targets = classes({1, 0});
  const double first =
      loss_sum(outputs.narrow(0, 0, 1), classes({1}), kCrossEntropy).item<double>();
  const double second =
      loss_sum(outputs.narrow(0, 1, 1), classes({0}), kCrossEntropy).item<double>();
  EXPECT_NEAR(loss_sum(outputs, {targets, weights}, kCrossEntropy).item<double>(),
              3 * first + 0.5 * second, 1e-6);
}

TEST(LossTest, NothingIsCountedInARegression) {
  EXPECT_FALSE(num_correct(floats({1, 2}, 1), floats({1, 2}, 1), kMse).defined());
}

}  // namespace
}  // namespace trainer::model
