// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/combine.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "support/numbers.h"

namespace trainer::cpu {
namespace {

using Numbers = std::vector<float>;

constexpr int64_t kMembers = 3;
constexpr int64_t kOutputRows = 4;

constexpr double kWeights[] = {0.2, 0.5, 0.3};

MemberOutputs view(const Numbers& values, int64_t num_columns, std::span<const double> weights) {
  return {.values = values.data(),
          .num_members = kMembers,
          .member_stride = num_columns,
          .num_rows = kOutputRows,
          .row_stride = kMembers * num_columns,
          .num_columns = num_columns,
          .weights = weights};
}

/// The sum of the combined outputs times the factors.
double value_of(network::Mean mean, const Numbers& values, int64_t num_columns,
                const Numbers& factors, std::span<const double> weights) {
  Numbers combined(factors.size());
  combine_members(mean, view(values, num_columns, weights), combined.data(), num_columns);
  double sum = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    sum += static_cast<double>(factors[i]) * static_cast<double>(combined[i]);
  }
  return sum;
}

void expect_finite_differences(network::Mean mean, int64_t num_columns,
                               std::span<const double> weights) {
  Numbers values = test::some_numbers(kOutputRows * kMembers * num_columns, 5);
  for (float& value : values) value *= 3;
  const Numbers factors = test::some_numbers(kOutputRows * num_columns, 6);
  Numbers gradient = values;  // in place
  combine_gradient(mean, view(gradient, num_columns, weights), factors.data(), gradient.data());
  constexpr float kStep = 1.0F / 64;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Numbers above = values;
    Numbers below = values;
    above[i] += kStep;
    below[i] -= kStep;
    const double difference = value_of(mean, above, num_columns, factors, weights) -
                              value_of(mean, below, num_columns, factors, weights);
    EXPECT_NEAR(gradient[i], difference / (2 * static_cast<double>(kStep)), 2e-4)
        << num_columns << ' ' << i;
  }
}

TEST(CombineTest, TheGradientIsThatOfFiniteDifferences) {
  for (const network::Mean mean : {network::Mean::kOfNumbers, network::Mean::kOfProbabilities}) {
    for (const int64_t num_columns : {1, 2, 5}) {
      expect_finite_differences(mean, num_columns, {});
      expect_finite_differences(mean, num_columns, kWeights);
    }
  }
}

TEST(CombineTest, MembersCountByTheirWeights) {
  const Numbers values = {1, 2, 4, 1, 2, 4, 1, 2, 4, 1, 2, 4};  // [rows, members]
  Numbers combined(kOutputRows);
  combine_members(network::Mean::kOfNumbers, view(values, 1, kWeights), combined.data(), 1);
  EXPECT_FLOAT_EQ(combined[3], 0.2F * 1 + 0.5F * 2 + 0.3F * 4);
  combine_members(network::Mean::kOfProbabilities, view(values, 1, kWeights), combined.data(), 1);
  const auto sigmoid = [](double logit) { return 1 / (1 + std::exp(-logit)); };
  EXPECT_NEAR(sigmoid(combined[0]), 0.2 * sigmoid(1) + 0.5 * sigmoid(2) + 0.3 * sigmoid(4), 1e-6);
}

}  // namespace
}  // namespace trainer::cpu
