// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/loss.h"

#include <cmath>
#include <vector>

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace trainer::model {
namespace {

const LossOptions kCrossEntropy{config::Loss::kCrossEntropy, 0.0};
const LossOptions kMse{config::Loss::kMse, 0.0};

at::Tensor floats(const std::vector<float>& values, int64_t columns) {
  return at::tensor(values, at::kFloat).view({-1, columns});
}

at::Tensor classes(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

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
  EXPECT_EQ(num_correct(outputs, classes({2, 0, 0}), kCrossEntropy).item<int64_t>(), 2);
  EXPECT_EQ(num_correct(outputs, classes({0, 1, 2}), kCrossEntropy).item<int64_t>(), 0);
}

TEST(LossTest, NothingIsCorrectInARegression) {
  const at::Tensor correct = num_correct(floats({1, 2}, 1), floats({1, 2}, 1), kMse);
  EXPECT_EQ(correct.item<int64_t>(), 0);
  EXPECT_EQ(correct.scalar_type(), at::kLong);
}

}  // namespace
}  // namespace trainer::model
