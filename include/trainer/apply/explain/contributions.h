// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/model.h"

namespace trainer::explain {

/// How much each column contributes to the difference of one output between the baseline and a row.
struct ExplainedOutput {
  std::string name;  // "logit of \"Adelie\"", or the target
  double at_baseline = 0;
  double at_row = 0;
  std::vector<double> contributions = {};  // [groups]
  int64_t num_steps = 0;                   // number of nodes of the quadrature
  double error = 0;      // sum of the contributions minus the difference of the output
  bool adds_up = false;  // |error| is at most 0.001 of the sum of |contributions|, and rounding
};

/// The prediction for a row, and the contributions of its columns.
struct Contributions {
  std::string prediction;                // "Adelie (probability 0.98)", or numbers
  std::string baseline;                  // in words
  std::vector<std::string> cells;        // [groups] the cells of the row, see cell_text()
  std::vector<ExplainedOutput> outputs;  // the predicted class, or each target
};

/// Integrated gradients (Sundararajan, Taly and Yan, "Axiomatic attribution for deep networks",
/// 2017, equation 1) of the row `features` `[1, num_features]`, summed over the inputs of each
/// group: how much each column moves the output from its value at a baseline to that at the row.
/// For a classifier the output is the logit log(p / (1 - p)) of the probability p of the predicted
/// class, which may be the mean of several members; for a regression it is each target in the units
/// of the file before predictions are limited. The baseline is a row of which nothing is known:
/// each number is its mean in the training split (or median, see baseline_row()), each category is
/// unknown, which makes all its one-hot features 0. The path from the baseline to the row is
/// straight in the inputs of the first layer, where categories and numbers are embedded. The
/// integral is a Gauss-Legendre quadrature whose number of steps doubles from 32 to at most 4,096
/// until the contributions add up.
Contributions explain_row(const apply::Model& model, std::span<const ColumnGroup> groups,
                          const data::Matrix& features, int64_t num_threads);

/// The baseline `[1, num_features]`. Each number is the value that fills missing cells if data.fill
/// is the mean or the median, else the value that is scaled to 0.
data::Matrix baseline_row(const apply::Model& model);

/// The baseline in words: "each number is at its mean in the training split, each category
/// unknown".
std::string baseline_text(const apply::Model& model);

/// The nodes and weights of a rule for the integral over [0, 1].
struct Quadrature {
  std::vector<double> nodes;
  std::vector<double> weights;
};

/// The Gauss-Legendre rule with n = `num_nodes` nodes, exact for polynomials of degree 2 n - 1. The
/// nodes are the roots of the Legendre polynomial, found by Newton's method.
Quadrature gauss_legendre(int64_t num_nodes);

}  // namespace trainer::explain
