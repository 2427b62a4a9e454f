// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/table/split/split.h"

namespace trainer::data {

/// How many rows each split but the training split has.
struct SplitSizes {
  int64_t validation = 0;
  int64_t test = 0;
};

/// The sizes by the fractions of `num_rows`. Throws Error(kData) when a fraction above 0 takes no
/// row or nothing is left to train on.
SplitSizes split_sizes(int64_t num_rows, const SplitOptions& options);

/// The rows for validation of `num_rows` that are not of the fold.
int64_t validation_rows(int64_t num_rows, const SplitOptions& options);

}  // namespace trainer::data
