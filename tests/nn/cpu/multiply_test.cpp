// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/kernels.h"

#include "nn/cpu/emulated_amx.h"
#include "support/numbers.h"

namespace trainer::cpu {
namespace {

using Numbers = std::vector<float>;

struct Shape {
  int64_t rows, columns, depth;
};

// Single elements, full tiles, edges of every kind, and more than one block of rows and depth.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{1, 1, 1},    {14, 32, 16},  {32, 128, 10},
                                         {33, 2, 128}, {13, 33, 57},  {57, 100, 31},
                                         {5, 17, 600}, {533, 40, 300}};
  return all;
}

/// The three products of a linear layer, each with another layout of A and B.
enum class Orientation { kForward, kInputGradient, kWeightGradient };

/// A product and its matrices; rows of C have `kGap` unused elements.
struct Problem {
  static constexpr int64_t kGap = 3;

  Problem(const Shape& s, Orientation orientation, Accumulate accumulate)
      : a(test::some_numbers(s.rows * s.depth, 1)),
        b(test::some_numbers(s.depth * s.columns, 2)),
        c(test::some_numbers(s.rows * (s.columns + kGap), 3)) {
    const bool a_transposed = orientation == Orientation::kWeightGradient;
    const bool b_transposed = orientation == Orientation::kForward;
    product = {.num_rows = s.rows,
               .num_columns = s.columns,
               .depth = s.depth,
               .a = a.data(),
               .a_row = a_transposed ? 1 : s.depth,
               .a_depth = a_transposed ? s.rows : 1,
               .b = b.data(),
               .b_depth = b_transposed ? 1 : s.columns,
               .b_column = b_transposed ? s.depth : 1,
               .c = c.data(),
               .c_row = s.columns + kGap,
               .accumulate = accumulate};
  }

  double exact(int64_t row, int64_t column) const {
    const Product& p = product;
    double sum =
        p.accumulate == Accumulate::kYes ? static_cast<double>(p.c[row * p.c_row + column]) : 0;
    for (int64_t k = 0; k < p.depth; ++k) {
      sum += static_cast<double>(p.a[row * p.a_row + k * p.a_depth]) *
             static_cast<double>(p.b[k * p.b_depth + column * p.b_column]);
    }
    return sum;
  }

  Numbers a, b, c;
  Product product;
};

class MultiplyTest : public testing::TestWithParam<const Kernels*> {
 protected:
  static void multiply(const Product& product) {
    Numbers scratch(static_cast<std::size_t>(GetParam()->scratch_floats));
    GetParam()->multiply(product, scratch.data());
  }

  // Products of some rows and columns at a time.
  template <class Multiply>
  static void expect_bits_of_the_whole(int64_t column_step, const Multiply& multiply_one) {
    for_each_problem([&](const Problem& problem) {
      Numbers by_part = problem.c;
      const Product whole = problem.product;
      multiply_one(whole);
      constexpr int64_t kRowStep = 9;
      for (int64_t i = 0; i < whole.num_rows; i += kRowStep) {
        for (int64_t j = 0; j < whole.num_columns; j += column_step) {
          Product part = whole;
          part.num_rows = std::min(kRowStep, whole.num_rows - i);
          part.num_columns = std::min(column_step, whole.num_columns - j);
          part.a += i * whole.a_row;
          part.b += j * whole.b_column;
          part.c = by_part.data() + i * whole.c_row + j;
          multiply_one(part);
        }
      }
      EXPECT_EQ(by_part, problem.c);
    });
  }

  // As a thread finds them: not packed, packed in the pass before, being packed by another, packed.
  static void expect_same_with_shared_panels(const Kernels& kernels,
                                             decltype(Kernels::multiply) multiply) {
    for_each_problem([&](Problem problem) {
      Product& p = problem.product;
      const Numbers before = problem.c;
      Numbers scratch(static_cast<std::size_t>(kernels.scratch_floats));
      multiply(p, scratch.data());
      const Numbers expected = problem.c;
      const int64_t num_panels = ceil_div(p.num_columns, kernels.panel_columns);
      const auto count =
          static_cast<std::size_t>(num_panels * ceil_div(p.depth, kernels.panel_depth));
      Numbers memory(count * static_cast<std::size_t>(kernels.panel_depth * kernels.panel_columns),
                     NAN);
      constexpr uint32_t kPass = 6;
      std::vector<uint32_t> states(count, kPass - 2);
      p.shared = {.memory = memory.data(),
                  .states = states.data(),
                  .pass = kPass,
                  .num_panels = num_panels,
                  .start = num_panels / 2};
      states.front() = kPass - 1;
      for (int turn = 0; turn < 2; ++turn) {
        std::copy(before.begin(), before.end(), problem.c.begin());
        multiply(p, scratch.data());
        EXPECT_EQ(problem.c, expected) << turn;
        EXPECT_EQ(states.front(), kPass - 1);
      }
    });
  }

  template <class Check>
  static void for_each_problem(const Check& check) {
    for (const Shape& shape : shapes()) {
      for (const auto orientation :
           {Orientation::kForward, Orientation::kInputGradient, Orientation::kWeightGradient}) {
        for (const auto accumulate : {Accumulate::kNo, Accumulate::kYes}) {
          SCOPED_TRACE(fmt::format("{} x {} x {}, orientation {}, accumulate {}", shape.rows,
                                   shape.columns, shape.depth, static_cast<int>(orientation),
                                   static_cast<int>(accumulate)));
          check(Problem(shape, orientation, accumulate));
        }
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(InstructionSets, MultiplyTest, testing::ValuesIn(all_kernels()),
                         [](const auto& test) { return test.param->name; });

TEST_P(MultiplyTest, EveryElementIsTheSumOfItsProducts) {
  for_each_problem([](const Problem& problem) {
    const Product& p = problem.product;
    std::vector<double> exact;
    for (int64_t i = 0; i < p.num_rows; ++i) {
      for (int64_t j = 0; j < p.num_columns; ++j) exact.push_back(problem.exact(i, j));
    }
    multiply(p);
    const double bound = 1e-6 * std::sqrt(static_cast<double>(p.depth));
    for (int64_t i = 0; i < p.num_rows; ++i) {
      for (int64_t j = 0; j < p.num_columns; ++j) {
        ASSERT_NEAR(static_cast<double>(p.c[i * p.c_row + j]),
                    exact[static_cast<std::size_t>(i * p.num_columns + j)], bound)
            << i << ", " << j;
      }
    }
  });
}

TEST_P(MultiplyTest, NothingBesideTheResultIsTouched) {
  for_each_problem([](const Problem& problem) {
    const Numbers before = problem.c;
    const Product& p = problem.product;
    multiply(p);
    for (int64_t i = 0; i < p.num_rows; ++i) {
      for (int64_t j = p.num_columns; j < p.c_row; ++j) {
        const auto at = static_cast<std::size_t>(i * p.c_row + j);
        ASSERT_EQ(problem.c[at], before[at]) << i << ", " << j;
      }
    }
  });
}

// What any number of threads relies on.
TEST_P(MultiplyTest, PartsHaveTheBitsOfTheWhole) {
  expect_bits_of_the_whole(GetParam()->panel_columns, multiply);
}

TEST_P(MultiplyTest, SharedPanelsDoNotChangeTheResult) {
  expect_same_with_shared_panels(*GetParam(), GetParam()->multiply);
}

class MultiplyAddTest : public MultiplyTest {
 public:
  static std::vector<const Kernels*> kernels() {
    std::vector<const Kernels*> kernels = all_kernels();
    std::erase_if(kernels, [](const Kernels* kernel) {
      return kernel->instruction_set == InstructionSet::kBaseline;
    });
    return kernels;
  }
};

INSTANTIATE_TEST_SUITE_P(InstructionSets, MultiplyAddTest,
                         testing::ValuesIn(MultiplyAddTest::kernels()),
                         [](const auto& test) { return test.param->name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MultiplyAddTest);  // where no CPU has them

// Multiply-adds in the same order round alike, however wide a vector is.
TEST_P(MultiplyAddTest, InstructionSetsHaveTheSameBits) {
  const Kernels& best = *all_kernels().back();
  for_each_problem([&](Problem problem) {
    Numbers other = problem.c;
    Numbers scratch(static_cast<std::size_t>(best.scratch_floats));
    multiply(problem.product);
    problem.product.c = other.data();
    best.multiply(problem.product, scratch.data());
    EXPECT_EQ(other, problem.c);
  });
}

TEST_P(MultiplyTest, NaNAndInfinityShowInTheResult) {
  Problem problem({4, 40, 20}, Orientation::kForward, Accumulate::kNo);
  problem.a[0] = std::nanf("");
  problem.a[20] = INFINITY;
  problem.b[0] = 1;
  multiply(problem.product);
  EXPECT_TRUE(std::isnan(problem.c[0]));
  EXPECT_TRUE(std::isinf(problem.c[static_cast<std::size_t>(problem.product.c_row)]));
  EXPECT_TRUE(std::isfinite(problem.c[static_cast<std::size_t>(2 * problem.product.c_row)]));
}

/// The same products of numbers that are rounded to bf16.
class MultiplyBf16Test : public MultiplyTest {
 public:
  static void multiply_bf16(const Kernels& kernels, const Product& product) {
    Numbers scratch(static_cast<std::size_t>(kernels.scratch_floats));
    kernels.multiply_bf16(product, scratch.data());
  }

  // To the nearest bf16 number, to the even one of two.
  static float rounded(float x) {
    auto bits = std::bit_cast<uint32_t>(x);
    bits += 0x7fffU + ((bits >> 16U) & 1U);
    return std::bit_cast<float>(bits & 0xffff0000U);
  }

  // The baseline with AMX stands for its emulation.
  static std::vector<const Kernels*> kernels() {
    std::vector<const Kernels*> kernels = all_kernels();
    kernels.push_back(&emulated_amx_kernels());
    return kernels;
  }

  // An element of C before anything is added to it.
  struct Element {
    const Product& p;
    int64_t row, column;

    float before() const {
      return p.accumulate == Accumulate::kYes ? p.c[row * p.c_row + column] : 0;
    }
    // The product of depth k and `to`, or `to` where there is no such depth.
    float add(int64_t k, float to) const {
      if (k >= p.depth) return to;
      return std::fma(rounded(p.a[row * p.a_row + k * p.a_depth]),
                      rounded(p.b[k * p.b_depth + column * p.b_column]), to);
    }
  };

  // One chain of multiply-adds, of each pair of depths the odd one first.
  static float sum_of_pairs(const Element& element) {
    float sum = element.before();
    for (int64_t k = 0; k < element.p.depth; k += 2) {
      sum = element.add(k, element.add(k + 1, sum));
    }
    return sum;
  }

  // Of each 32 depths one chain for the even ones and one for the odd ones.
  static float sum_of_tiles(const Element& element) {
    float sum = element.before();
    for (int64_t begin = 0; begin < element.p.depth; begin += 32) {
      float even = 0;
      float odd = 0;
      for (int64_t k = begin; k < begin + 32; k += 2) {
        even = element.add(k, even);
        odd = element.add(k + 1, odd);
      }
      sum += even + odd;
    }
    return sum;
  }

  // x + y, rounded to odd: between two numbers, the one whose last bit is set.
  static float add_to_odd(double x, double y) {
    const double sum = x + y;
    const double rest_of_x = sum - y;
    const double lost = (x - rest_of_x) + (y - (sum - rest_of_x));  // by the sum in double
    const auto nearest = static_cast<float>(sum);
    const double error = (sum - static_cast<double>(nearest)) + lost;
    if (error == 0) return nearest;
    const bool is_too_far = (error < 0) == (nearest > 0);
    const float toward_zero = is_too_far ? std::nextafter(nearest, 0.0F) : nearest;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(toward_zero) | 1U);
  }

  // Two products after the other, each with the one after it.
  static float sum_of_matrices(const Element& element) {
    float sum = element.before();
    for (int64_t k = 0; k < element.p.depth; k += 2) {
      const auto product = [&](int64_t depth) { return double{element.add(depth, 0)}; };
      sum = add_to_odd(double{sum}, double{add_to_odd(product(k), product(k + 1))});
    }
    return sum;
  }

  static float expected(const Product& p, int64_t row, int64_t column) {
    const Element element{p, row, column};
    switch (GetParam()->bf16_products) {
      case Bf16Products::kPairs:
        return sum_of_pairs(element);
      case Bf16Products::kAmx:
        return sum_of_tiles(element);
      case Bf16Products::kArm:
        return sum_of_matrices(element);
    }
    return 0;
  }

  // 1 x 1, of two depths.
  static float pair(const Kernels& kernels, const std::array<float, 2>& a,
                    const std::array<float, 2>& b, float sum) {
    float c = sum;
    multiply_bf16(kernels, {.num_rows = 1,
                            .num_columns = 1,
                            .depth = 2,
                            .a = a.data(),
                            .a_row = 2,
                            .b = b.data(),
                            .b_depth = 1,
                            .b_column = 2,
                            .c = &c,
                            .c_row = 1,
                            .accumulate = Accumulate::kYes});
    return c;
  }
};

INSTANTIATE_TEST_SUITE_P(InstructionSets, MultiplyBf16Test,
                         testing::ValuesIn(MultiplyBf16Test::kernels()),
                         [](const auto& test) { return test.param->name; });

TEST_P(MultiplyBf16Test, SharedPanelsDoNotChangeTheResult) {
  expect_same_with_shared_panels(*GetParam(), GetParam()->multiply_bf16);
}

TEST_P(MultiplyBf16Test, EveryElementHasTheBitsOfItsKindOfProducts) {
  for_each_problem([](const Problem& problem) {
    const Product& p = problem.product;
    Numbers sums;
    for (int64_t i = 0; i < p.num_rows; ++i) {
      for (int64_t j = 0; j < p.num_columns; ++j) sums.push_back(expected(p, i, j));
    }
    multiply_bf16(*GetParam(), p);
    for (int64_t i = 0; i < p.num_rows; ++i) {
      for (int64_t j = 0; j < p.num_columns; ++j) {
        ASSERT_EQ(p.c[i * p.c_row + j], sums[static_cast<std::size_t>(i * p.num_columns + j)])
            << i << ", " << j;
      }
    }
  });
}

TEST_P(MultiplyBf16Test, NothingBesideTheResultIsTouched) {
  for_each_problem([](const Problem& problem) {
    const Numbers before = problem.c;
    const Product& p = problem.product;
    multiply_bf16(*GetParam(), p);
    for (int64_t i = 0; i < p.num_rows; ++i) {
      for (int64_t j = p.num_columns; j < p.c_row; ++j) {
        const auto at = static_cast<std::size_t>(i * p.c_row + j);
        ASSERT_EQ(problem.c[at], before[at]) << i << ", " << j;
      }
    }
  });
}

TEST_P(MultiplyBf16Test, PartsHaveTheBitsOfTheWhole) {
  expect_bits_of_the_whole(GetParam()->panel_columns,
                           [](const Product& product) { multiply_bf16(*GetParam(), product); });
}

// Without fused multiply-adds a product that is subnormal is zero before it is added.
TEST_P(MultiplyAddTest, Bf16NumbersOfAllSizesGiveTheSameBits) {
  if (GetParam()->bf16_products != Bf16Products::kPairs) return;
  // Ties, subnormal numbers, results that are, numbers too large for bf16, infinity.
  const std::vector<float> numbers = {0x1.01p0F, 0x1.03p0F,       -0x1.02p0F,   0x1p-126F,
                                      0x1p-127F, 0x1.fep-75F,     -0x1.3ep-70F, 0x1p-149F,
                                      0x1p-60F,  0x1.fffffep127F, 0x1p100F,     -INFINITY,
                                      0.0F,      -0.0F,           3.0F};
  for (const float a : numbers) {
    for (const float b : numbers) {
      for (const float c : numbers) {
        for (const float sum : {0.0F, -0.0F, 0x1p-120F, -0x1p-128F, 1.0F}) {
          const float one = MultiplyBf16Test::pair(*GetParam(), {a, b}, {c, a}, sum);
          const float other = MultiplyBf16Test::pair(*kernels().front(), {a, b}, {c, a}, sum);
          ASSERT_TRUE(std::bit_cast<uint32_t>(one) == std::bit_cast<uint32_t>(other) ||
                      (std::isnan(one) && std::isnan(other)))
              << fmt::format("{} * {} + {} * {} + {}: {}, {}", a, c, b, a, sum, one, other);
        }
      }
    }
  }
}

TEST_P(MultiplyBf16Test, SubnormalNumbersAreZeros) {
  const Kernels& kernels = *GetParam();
  EXPECT_EQ(pair(kernels, {0x1p-127F, 0}, {0x1p100F, 0}, 0), 0);
  EXPECT_EQ(pair(kernels, {0, 0x1p100F}, {0, -0x1p-127F}, 0), 0);
  EXPECT_EQ(pair(kernels, {0x1p-70F, 0}, {0x1p-70F, 0}, 0), 0);
  EXPECT_EQ(pair(kernels, {0x1p-70F, -0x1p-70F}, {0x1p-57F, 0x1p-57F}, 0), 0);
  EXPECT_EQ(pair(kernels, {0, 0}, {0, 0}, 0x1p-128F), 0);
}

TEST_P(MultiplyBf16Test, NaNStaysNaNAndItsRoundingNoNumber) {
  for (const uint32_t bits : {0x7fffffffU, 0xffffffffU, 0x7f800001U, 0x7fc00000U}) {
    const auto nan = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(pair(*GetParam(), {nan, 1}, {1, 1}, 0)));
    EXPECT_TRUE(std::isnan(pair(*GetParam(), {1, 1}, {1, nan}, 0)));
  }
  EXPECT_TRUE(std::isinf(pair(*GetParam(), {0x1.ffp127F, 0}, {1, 0}, 0)));
}

// The processor counts with subnormal numbers again afterwards.
TEST_P(MultiplyBf16Test, OtherCodeKeepsItsSubnormalNumbers) {
  pair(*GetParam(), {1, 1}, {1, 1}, 0);
  volatile float small = 0x1p-126F;
  EXPECT_GT(small / 2, 0);
}

}  // namespace
}  // namespace trainer::cpu
