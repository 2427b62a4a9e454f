// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace trainer::metrics {

/// The outputs of a model for some rows, `[rows, columns]`: a logit per class, or a single logit
/// for the second of two classes; or a number per target.
struct Outputs {
  std::span<const float> values;
  int64_t num_columns = 1;
  /// For two classes: the probability above which the second class is predicted.
  double threshold = 0.5;

  int64_t num_rows() const { return static_cast<int64_t>(values.size()) / num_columns; }
};

}  // namespace trainer::metrics
