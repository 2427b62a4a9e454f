// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/explain/column_groups.h"

namespace trainer::explain {

/// Why one output of a model is not what it is at the baseline.
struct ExplainedOutput {
  std::string name;  // "logit of \"Adelie\"", or the target
  double at_baseline = 0;
  double at_row = 0;
  std::vector<double> contributions = {};  // [groups]
  int64_t num_steps = 0;                   // of the integral
  double error = 0;      // by how much the contributions do not add up to the difference
  bool adds_up = false;  // the error is at most a thousandth of their sizes together
};

/// A prediction and what it comes from.
struct Contributions {
  std::string prediction;                // "Adelie (probability 0.98)", or numbers
  std::string baseline;                  // in words
  std::vector<std::string> cells;        // [groups] of the row; empty for a block of many features
  std::vector<ExplainedOutput> outputs;  // the predicted class, or each target
};

/// Integrated gradients (Sundararajan, Taly and Yan, "Axiomatic attribution for deep networks",
/// 2017, equation 1) of the row `features` `[1, num_features]`, summed over the inputs of each
/// group: how much each column moves the output from its value at a baseline to that at the row.
/// The output is the logit log(p / (1 - p)) of the probability p of the predicted class, also where
/// that is the mean of several members, or the number of each target in the units of the file
/// before it is limited. The baseline is a row of which nothing is known: each number is what the
/// schema keeps as its mean (or median, see baseline_row()), each category is unknown, which makes
/// all its one-hot features 0. The path from there to the row is straight in the inputs of the
/// first layer, where categories and numbers are embedded. The integral is a Gauss-Legendre
/// quadrature with more and more steps (32 to 4,096) until the contributions add up.
Contributions explain_row(const apply::Model& model, std::span<const ColumnGroup> groups,
                          const data::Matrix& features, int64_t num_threads);

/// The baseline `[1, num_features]`: the number that fills missing cells where that is the mean or
/// the median of the training split, else the number that is scaled to 0.
data::Matrix baseline_row(const apply::Model& model);

/// Nodes and weights on [0, 1].
struct Quadrature {
  std::vector<double> nodes;
  std::vector<double> weights;
};

/// That of Gauss and Legendre, exact for polynomials of degree 2 n - 1; the nodes are roots of the
/// Legendre polynomial by Newton's method.
Quadrature gauss_legendre(int64_t num_nodes);

}  // namespace trainer::explain
