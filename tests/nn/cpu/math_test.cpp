// SPDX-License-Identifier: Apache-2.0
#define TRAINER_ISA of_this_test
#include "nn/cpu/math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace trainer::cpu::of_this_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The largest relative error over many numbers in [begin, end].
template <class Function, class Exact>
double largest_error(Function function, Exact exact, double begin, double end) {
  constexpr int kNumbers = 1'000'000;
  double largest = 0;
  for (int i = 0; i <= kNumbers; ++i) {
    const auto x = static_cast<float>(begin + (end - begin) * i / kNumbers);
    const double wanted = exact(static_cast<double>(x));
    if (wanted == 0) continue;
    largest = std::max(largest, std::abs(static_cast<double>(function(x)) / wanted - 1));
  }
  return largest;
}

TEST(MathTest, ExpIsRightToTwoUnitsInTheLastPlace) {
  const auto exact = [](double x) { return std::exp(x); };
  EXPECT_LT(largest_error(exp, exact, -87, 88.7), 2e-7);
  EXPECT_LT(largest_error(exp, exact, -1, 1), 2e-7);
}

TEST(MathTest, ExpEndsInZeroAndInfinity) {
  EXPECT_EQ(exp(-200), 0);
  EXPECT_EQ(exp(-kInfinity), 0);
  EXPECT_EQ(exp(89), kInfinity);
  EXPECT_EQ(exp(kInfinity), kInfinity);
  EXPECT_EQ(exp(0), 1);
  EXPECT_NEAR(exp(-100), std::exp(-100.0F), 1.5e-45F);  // subnormal
  EXPECT_TRUE(std::isnan(exp(kNaN)));
}

TEST(MathTest, ExpMinusOneIsRightBelowZero) {
  const auto exact = [](double x) { return std::expm1(x); };
  EXPECT_LT(largest_error(expm1_below_zero, exact, -90, 0), 3e-7);
  EXPECT_LT(largest_error(expm1_below_zero, exact, -1e-3, 0), 3e-7);
  EXPECT_EQ(expm1_below_zero(-kInfinity), -1);
  EXPECT_EQ(expm1_below_zero(0), 0);
  EXPECT_TRUE(std::isnan(expm1_below_zero(kNaN)));
}

TEST(MathTest, TanhIsRightEverywhere) {
  const auto exact = [](double x) { return std::tanh(x); };
  EXPECT_LT(largest_error(tanh, exact, -12, 12), 3e-7);
  EXPECT_LT(largest_error(tanh, exact, -1e-3, 1e-3), 3e-7);
  EXPECT_EQ(tanh(kInfinity), 1);
  EXPECT_EQ(tanh(-kInfinity), -1);
  EXPECT_TRUE(std::isnan(tanh(kNaN)));
}

TEST(MathTest, ErfIsRightEverywhere) {
  const auto exact = [](double x) { return std::erf(x); };
  EXPECT_LT(largest_error(erf, exact, -6, 6), 3e-7);
  EXPECT_LT(largest_error(erf, exact, -1e-3, 1e-3), 3e-7);
  EXPECT_EQ(erf(kInfinity), 1);
  EXPECT_EQ(erf(-kInfinity), -1);
  EXPECT_TRUE(std::isnan(erf(kNaN)));
}

TEST(MathTest, SineAndCosineAreRightForAnglesOfManyTurns) {
  for (const double end : {4.0, 1000.0}) {
    double largest = 0;
    for (int i = -100'000; i <= 100'000; ++i) {
      const auto x = static_cast<float>(end * i / 100'000);
      const auto exact = static_cast<double>(x);
      largest = std::max({largest, std::abs(static_cast<double>(sin(x)) - std::sin(exact)),
                          std::abs(static_cast<double>(cos(x)) - std::cos(exact))});
    }
    EXPECT_LT(largest, 1.2e-7) << end;
  }
  EXPECT_EQ(sin(0), 0);
  EXPECT_EQ(cos(0), 1);
  EXPECT_TRUE(std::isnan(sin(kNaN)));
  EXPECT_TRUE(std::isnan(cos(kInfinity)));
}

TEST(MathTest, SigmoidGoesFromZeroToOne) {
  EXPECT_EQ(sigmoid(-kInfinity), 0);
  EXPECT_EQ(sigmoid(0), 0.5F);
  EXPECT_EQ(sigmoid(kInfinity), 1);
  EXPECT_TRUE(std::isnan(sigmoid(kNaN)));
}

TEST(MathTest, ASumOfPartsIsThatOfAllElements) {
  for (const int64_t size : {0, 1, 15, 16, 17, 100}) {
    const float sum = sum_over(size, [](int64_t j) { return static_cast<float>(j); });
    EXPECT_EQ(sum, static_cast<float>(size) * static_cast<float>(size - 1) / 2);
  }
}

}  // namespace
}  // namespace trainer::cpu::of_this_test
