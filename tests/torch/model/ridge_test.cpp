// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/ridge.h"

#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "support/tensors.h"

namespace trainer::model {
namespace {

using at::indexing::Slice;

at::Tensor predictions(const LinearModel& model, const at::Tensor& inputs) {
  return inputs.matmul(model.weight.t()) + model.bias;
}

// Ridge regression by its normal equations.
LinearModel solve(const at::Tensor& inputs, const at::Tensor& targets, double penalty) {
  const at::Tensor x = inputs - inputs.mean(0);
  const at::Tensor matrix = x.t().matmul(x) + penalty * at::eye(x.size(1), at::kDouble);
  const at::Tensor weight = at::linalg_solve(matrix, x.t().matmul(targets - targets.mean(0))).t();
  return {.weight = weight, .bias = targets.mean(0) - weight.matmul(inputs.mean(0))};
}

at::Tensor without(const at::Tensor& rows, int64_t row) {
  return at::cat({rows.index({Slice(0, row)}), rows.index({Slice(row + 1)})});
}

at::Tensor random(at::IntArrayRef shape) { return at::randn(shape, at::kDouble); }

TEST(RidgeTest, FindsTheWeightsOfALinearTable) {
  at::manual_seed(1);
  const at::Tensor inputs = random({50, 4}) + 3;
  const at::Tensor weight = random({2, 4});
  const LinearModel model = fit_ridge(inputs, inputs.matmul(weight.t()) + 7);
  EXPECT_TRUE(test::close(model.weight, weight, 1e-6));
  EXPECT_TRUE(test::close(model.bias, at::full({2}, 7, at::kDouble), 1e-5));
}

// Rows are left out here one after the other, there by a formula that holds for given means.
TEST(RidgeTest, ThePenaltyIsThatOfTheSmallestLeaveOneOutError) {
  at::manual_seed(2);
  const at::Tensor inputs = random({20, 3});
  const at::Tensor targets = inputs.matmul(random({3, 1})) + 0.8 * random({20, 1});
  const at::Tensor x = inputs - inputs.mean(0);
  const double greatest = std::get<1>(at::linalg_svd(x)).square().max().item<double>();
  double least = std::numeric_limits<double>::infinity();
  LinearModel best;
  for (double penalty = 10 * greatest; penalty > 1e-11 * greatest; penalty /= 4) {
    double error = 0;
    for (int64_t row = 0; row < inputs.size(0); ++row) {
      const LinearModel model = solve(without(inputs, row), without(targets, row), penalty);
      error += (predictions(model, inputs[row]) - targets[row]).square().item<double>();
    }
    if (error >= least) continue;
    least = error;
    best = solve(inputs, targets, penalty);
  }
  EXPECT_TRUE(test::close(fit_ridge(inputs, targets).weight, best.weight, 1e-9));
}

TEST(RidgeTest, RowsWithoutWeightDoNotCount) {
  at::manual_seed(3);
  const at::Tensor inputs = random({30, 5});
  const at::Tensor targets = inputs.matmul(random({5, 1})) + random({30, 1});
  const at::Tensor weights = at::arange(30).lt(20).to(at::kFloat);
  const LinearModel some = fit_ridge(inputs, targets, weights);
  const LinearModel those = fit_ridge(inputs.narrow(0, 0, 20), targets.narrow(0, 0, 20));
  EXPECT_TRUE(test::close(some.weight, those.weight, 1e-9));
  EXPECT_TRUE(test::close(some.bias, those.bias, 1e-9));
}

TEST(RidgeTest, MoreInputsThanRowsAndConstantOnesHaveASolution) {
  at::manual_seed(4);
  const at::Tensor factors = random({400, 2});
  const at::Tensor inputs = at::cat({factors.matmul(random({2, 60})), at::ones({400, 1})}, 1);
  const at::Tensor targets = factors.matmul(random({2, 1}));
  const LinearModel model = fit_ridge(inputs.narrow(0, 0, 30), targets.narrow(0, 0, 30));
  EXPECT_TRUE(test::close(predictions(model, inputs), targets, 1e-3));
  const LinearModel constant = fit_ridge(at::ones({30, 3}), at::full({30, 1}, 5));
  EXPECT_TRUE(test::close(predictions(constant, at::ones({1, 3}, at::kDouble)),
                          at::full({1, 1}, 5, at::kDouble), 1e-12));
}

}  // namespace
}  // namespace trainer::model
