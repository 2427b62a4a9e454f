// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/table.h"

namespace trainer::data {

/// What encode() makes of a table.
struct Encoded {
  Matrix features;                   // [num_rows, sum of num_features], see first_features()
  std::vector<int64_t> num_unknown;  // [num_columns] cells with a category that is not known
  /// Rows that an error left out, in their order, and why; of kCollect only. They have features all
  /// the same, which mean nothing.
  std::vector<std::pair<int64_t, std::string>> bad_rows = {};
};

/// What encode() does about a cell that is an error.
enum class OnBadCell { kThrow, kCollect };

/// Turns the cells of `table` into features and takes them out of it: numbers as they are, or their
/// place among quantiles, categories into 0 and 1, or into their number in an embedded column.
/// `table` is a whole file or any part of one; its columns are found by their names. With kUnknown,
/// a category that `columns` lack makes all features of its column 0, or the number of what is
/// unknown; and so does a missing cell of a categorical column that had none when it was fitted.
/// Throws Error(kData) with the line of such a cell with kError, and of a missing number that has
/// no fill.
Encoded encode(std::span<const Column> columns, config::UnknownCategory unknown, Table& table,
               OnBadCell on_bad_cell = OnBadCell::kThrow);

}  // namespace trainer::data
