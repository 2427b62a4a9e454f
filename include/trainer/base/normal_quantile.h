// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>

namespace trainer {

/// z with P(Z <= z) = p for a standard normal Z, 0 < p < 1: the approximation 26.2.23 of Abramowitz
/// and Stegun, "Handbook of Mathematical Functions", 1964, made exact to double by Newton's steps.
inline double normal_quantile(double p) {
  if (p == 0.5) return 0;
  const bool is_upper = p > 0.5;
  const double tail = is_upper ? 1 - p : p;
  const double t = std::sqrt(-2 * std::log(tail));
  double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                     (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int step = 0; step < 3; ++step) {  // Newton's method for the root of P(Z > z) - tail
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    z += (std::erfc(z / std::numbers::sqrt2) / 2 - tail) / density;
  }
  return is_upper ? z : -z;
}

}  // namespace trainer
