// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "trainer/table/split/split.h"

namespace trainer::data {

/// Divides the rows by their times `[num_rows]`, whatever their order is: the latest are the test
/// split, those before them the validation split. Rows of one time stay together, so a split begins
/// at the time that gives it the number of rows that is nearest to its fraction. With folds the
/// rows are cut into folds + 1 pieces of nearly equal size, each later than the one before: fold k
/// is tested on piece k + 1 and trained on all pieces before it, of which the validation fraction
/// is the latest. Throws Error(kData) when there are too few different times.
SplitIndices split_by_time(std::span<const double> times, const SplitOptions& options);

}  // namespace trainer::data
