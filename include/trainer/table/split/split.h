// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "trainer/base/memory/array.h"
#include "trainer/table/table.h"

namespace trainer::data {

/// Row numbers of each split, ascending. Every row is in at most one split, and in one unless it is
/// later than the fold of a chronological split.
struct SplitIndices {
  Array<int64_t> train;
  Array<int64_t> validation;
  Array<int64_t> test;
};

/// How rows are to be divided.
struct SplitOptions {
  double validation_fraction = 0.1;  // [0, 1)
  double test_fraction = 0.1;        // [0, 1); of no effect with folds
  uint64_t seed = 0;
  int64_t folds = 0;    // 0: none
  int64_t fold = 1;     // the one that is the test split, [1, folds]
  uint64_t repeat = 0;  // which of the divisions of one seed
  /// Above 0, the rows that are not the test split are divided into so many folds, one of which is
  /// the validation split. Then no fraction is asked.
  int64_t validation_folds = 0;
  int64_t validation_fold = 1;  // [1, validation_folds]
};

/// Divides `num_rows` rows at random, a pure function of its arguments. A fraction f takes
/// round(f * num_rows) rows. `strata` is empty or holds a class a row `[num_rows]`; then every
/// split has the classes in the proportions of the whole, as nearly as whole rows allow. With
/// folds, every row is in one of them, they differ by at most one row, in each class too, and the
/// validation fraction is that of the other rows. Validation folds are made in the same way. Throws
/// Error(kData) when a fraction above 0 takes no row, nothing is left to train on, or there are
/// more validation folds than rows.
SplitIndices split_rows(int64_t num_rows, std::span<const int64_t> strata,
                        const SplitOptions& options);

/// Divides the rows at random, a pure function of its arguments, so that all rows of a group are in
/// one split. `groups` `[num_rows]` are numbers from 0 on. A split has its fraction of the rows as
/// nearly as whole groups, one after the other, allow; each group goes to the fold that has the
/// fewest rows, the largest first. Throws Error(kData) when there are fewer groups than splits or
/// folds, and as split_rows does.
SplitIndices split_groups(std::span<const int64_t> groups, const SplitOptions& options);

/// The rows of each split of `splits` `[num_rows]`.
SplitIndices split_by_column(std::span<const Split> splits);

/// Divides the rows by their times `[num_rows]`, whatever their order is: the latest are the test
/// split, those before them the validation split. Rows of one time stay together, so a split begins
/// at the time that gives it the number of rows that is nearest to its fraction. With folds the
/// rows are cut into folds + 1 pieces of nearly equal size, each later than the one before: fold k
/// is tested on piece k + 1 and trained on all pieces before it, of which the validation fraction
/// is the latest. Throws Error(kData) when there are too few different times.
SplitIndices split_by_time(std::span<const double> times, const SplitOptions& options);

}  // namespace trainer::data
