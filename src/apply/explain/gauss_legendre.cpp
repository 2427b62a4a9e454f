// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "trainer/apply/explain/contributions.h"

namespace trainer::explain {

Quadrature gauss_legendre(int64_t num_nodes) {
  const auto n = static_cast<double>(num_nodes);
  Quadrature q;
  for (int64_t i = 0; i < num_nodes; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
    double slope = 0;
    for (double change = 1; std::abs(change) > 1e-15;) {
      double value = 1;  // the Legendre polynomial of degree k at x, by its recurrence
      double before = 0;
      for (int64_t k = 1; k <= num_nodes; ++k) {
        const auto degree = static_cast<double>(k);
        const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
        before = value;
        value = next;
      }
      slope = n * (x * value - before) / (x * x - 1);
      change = value / slope;
      x -= change;
    }
    q.nodes.push_back((1 - x) / 2);
    q.weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return q;
}

}  // namespace trainer::explain
