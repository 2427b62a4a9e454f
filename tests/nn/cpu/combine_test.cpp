// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/combine.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "support/numbers.h"

namespace trainer::cpu {
namespace {

using Numbers = std::vector<float>;

constexpr int64_t kMembers = 3;
constexpr int64_t kOutputRows = 4;

MemberOutputs view(const Numbers& values, int64_t num_columns) {
  return {.values = values.data(),
          .num_members = kMembers,
          .member_stride = num_columns,
          .num_rows = kOutputRows,
          .row_stride = kMembers * num_columns,
          .num_columns = num_columns};
}

/// The sum of the combined outputs times the factors.
double value_of(network::Mean mean, const Numbers& values, int64_t num_columns,
                const Numbers& factors) {
  Numbers combined(factors.size());
  combine_members(mean, view(values, num_columns), combined.data(), num_columns);
  double sum = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    sum += static_cast<double>(factors[i]) * static_cast<double>(combined[i]);
  }
  return sum;
}

TEST(CombineTest, TheGradientIsThatOfFiniteDifferences) {
  for (const network::Mean mean : {network::Mean::kOfNumbers, network::Mean::kOfProbabilities}) {
    for (const int64_t num_columns : {1, 2, 5}) {
      Numbers values = test::some_numbers(kOutputRows * kMembers * num_columns, 5);
      for (float& value : values) value *= 3;
      const Numbers factors = test::some_numbers(kOutputRows * num_columns, 6);
      Numbers gradient = values;  // in place
      MemberOutputs members = view(gradient, num_columns);
      combine_gradient(mean, members, factors.data(), gradient.data());
      constexpr float kStep = 1.0F / 64;
      for (std::size_t i = 0; i < values.size(); ++i) {
        Numbers above = values;
        Numbers below = values;
        above[i] += kStep;
        below[i] -= kStep;
        const double difference = value_of(mean, above, num_columns, factors) -
                                  value_of(mean, below, num_columns, factors);
        EXPECT_NEAR(gradient[i], difference / (2 * static_cast<double>(kStep)), 2e-4)
            << num_columns << ' ' << i;
      }
    }
  }
}

}  // namespace
}  // namespace trainer::cpu
