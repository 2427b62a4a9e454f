// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace trainer::metrics {

/// What a model says of some rows, `[rows, columns]`: a logit a class, or a single one, that of the
/// second of two classes; or a number a target.
struct Outputs {
  std::span<const float> values;
  int64_t num_columns = 1;
  /// Of two classes: the probability of the second above which it is predicted.
  double threshold = 0.5;

  int64_t num_rows() const { return static_cast<int64_t>(values.size()) / num_columns; }
};

}  // namespace trainer::metrics
