// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/cpu/vector.h"  // IWYU pragma: keep (TRAINER_ISA)

// Functions of one number without branches, so that a loop that calls them is vectorized. NaN stays
// NaN. tests/nn/cpu/math_test.cpp measures the errors. The functions are always inlined: once they
// had more callers, the compiler stopped inlining them, and the loops were no longer vectorized.
namespace trainer::cpu::TRAINER_ISA {

[[gnu::always_inline]] inline float as_float(int32_t bits) {
  return __builtin_bit_cast(float, bits);
}
[[gnu::always_inline]] inline int32_t as_bits(float value) {
  return __builtin_bit_cast(int32_t, value);
}

// 2^n for whole n in [-126, 127], in a float's exponent.
[[gnu::always_inline]] inline float power_of_two(int32_t n) { return as_float((n + 127) << 23); }

// e^x = 2^n e^r with |r| <= ln(2)/2 and a polynomial for e^r; relative error below 2e-7.
[[gnu::always_inline]] inline float exp(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // n * kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  // Beyond these bounds the result is 0 or infinite anyway. NaN stays NaN because both comparisons
  // are false.
  const float bounded = x < -104.0f ? -104.0f : (x > 89.0f ? 89.0f : x);
  const float rounded = bounded * kLog2E + kRounder;
  const float n = rounded - kRounder;
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  float p = 1.39485812e-3f;
  p = p * r + 8.37512873e-3f;
  p = p * r + 4.16662171e-2f;
  p = p * r + 1.66664153e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // In two factors: 2^128 is no float, and the smallest results are subnormal.
  const int32_t whole = as_bits(rounded) - as_bits(kRounder);
  const int32_t half = whole >> 1;
  return p * power_of_two(half) * power_of_two(whole - half);
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1), as exp(), for x <= 0; relative error below 3e-7.
[[gnu::always_inline]] inline float expm1_below_zero(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRounder = 12582912.0f;
  const float bounded = x < -87.0f ? -87.0f : x;  // below, the result is -1
  const float rounded = bounded * kLog2E + kRounder;
  const float n = rounded - kRounder;
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  float p = 1.39485812e-3f;
  p = p * r + 8.37512873e-3f;
  p = p * r + 4.16662171e-2f;
  p = p * r + 1.66664153e-1f;
  p = p * r + 0.5f;
  p = p * r * r + r;
  const float power = power_of_two(as_bits(rounded) - as_bits(kRounder));
  return power * p + (power - 1.0f);
}

// Uses an odd polynomial near zero (S. Moshier's Cephes library), else e^x. Relative error below
// 3e-7.
[[gnu::always_inline]] inline float tanh(float x) {
  const float size = x < 0.0f ? -x : x;
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = x + x * z * p;
  const float far = 1.0f - 2.0f / (exp(2.0f * size) + 1.0f);
  return size < 0.625f ? near : (x < 0.0f ? -far : far);
}

// Uses an odd polynomial for |x| below 1, else 1 - e^-q with a polynomial q; both are least-squares
// fits at Chebyshev nodes. Error below 2e-7, absolute and relative.
[[gnu::always_inline]] inline float erf(float x) {
  const float size = x < 0.0f ? -x : x;
  const float z = x * x;
  float p = 7.88249745e-5f;
  p = p * z - 8.01885501e-4f;
  p = p * z + 5.18931216e-3f;
  p = p * z - 2.68543288e-2f;
  p = p * z + 1.12835974e-1f;
  p = p * z - 3.76126260e-1f;
  p = p * z + 1.12837911f;
  const float near = x * p;
  const float a = size > 4.0f ? 4.0f : size;  // above 4, erf is 1 in float32
  float q = 1.33093899e-5f;
  q = q * a - 3.17572034e-4f;
  q = q * a + 3.43686761e-3f;
  q = q * a - 2.26219855e-2f;
  q = q * a + 1.03318982e-1f;
  q = q * a + 6.39093339e-1f;
  q = q * a + 1.12592590f;
  q = q * a + 7.56968628e-4f;
  const float far = 1.0f - exp(-q);
  return size < 1.0f ? near : (x < 0.0f ? -far : far);
}

// Reduces an angle by quarters of a turn to [-pi/4, pi/4], where sine and cosine are polynomials
// (S. Moshier's Cephes library). Absolute error below 1e-7 up to |x| = 1,000; for larger x the
// rounding error of x itself dominates.
struct QuarterTurn {
  float sine;
  float cosine;
  int32_t quarter;
};

[[gnu::always_inline]] inline QuarterTurn quarter_turn(float x) {
  constexpr float kQuartersPerRadian = 0.636619772f;
  constexpr float kHalfPi1 = 1.5703125f;  // pi/2 in three parts; multiples of the first are exact
  constexpr float kHalfPi2 = 4.837512969970703125e-4f;
  constexpr float kHalfPi3 = 7.549790126404332e-8f;
  constexpr float kRounder = 12582912.0f;
  const float rounded = x * kQuartersPerRadian + kRounder;
  const float n = rounded - kRounder;
  const float r = ((x - n * kHalfPi1) - n * kHalfPi2) - n * kHalfPi3;
  const float z = r * r;
  float s = -1.9515295891e-4f;
  s = s * z + 8.3321608736e-3f;
  s = s * z - 1.6666654611e-1f;
  float c = 2.443315711809948e-5f;
  c = c * z - 1.388731625493765e-3f;
  c = c * z + 4.166664568298827e-2f;
  return {.sine = s * z * r + r,
          .cosine = c * z * z - 0.5f * z + 1.0f,
          .quarter = as_bits(rounded) - as_bits(kRounder)};
}

[[gnu::always_inline]] inline float sin(float x) {
  const QuarterTurn t = quarter_turn(x);
  const float value = (t.quarter & 1) != 0 ? t.cosine : t.sine;
  return (t.quarter & 2) != 0 ? -value : value;
}

[[gnu::always_inline]] inline float cos(float x) {
  const QuarterTurn t = quarter_turn(x);
  const float value = (t.quarter & 1) != 0 ? t.sine : t.cosine;
  return ((t.quarter + 1) & 2) != 0 ? -value : value;
}

[[gnu::always_inline]] inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

}  // namespace trainer::cpu::TRAINER_ISA
