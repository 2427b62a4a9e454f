// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/table/table.h"

namespace trainer::data {

/// How many points are to be made and how hard they are to tell apart.
struct SyntheticOptions {
  int64_t num_samples = 1000;
  int64_t num_features = 10;
  int64_t num_classes = 2;
  double separation = 1.0;  // distance of a class centre from the origin along each feature
  uint64_t seed = 0;
};

/// One cloud of points a class: each feature is its class centre (plus or minus `separation`) and
/// noise of variance 1. Class 1 lies opposite to class 0, 3 to 2 and so on. Classes take turns, so
/// that they are equally large. Features are named `feature_<i>`, the target `class` with the
/// labels "0", "1", ... A pure function of the options.
Table make_synthetic(const SyntheticOptions& options);

}  // namespace trainer::data
