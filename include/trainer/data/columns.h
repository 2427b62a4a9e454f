// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/data/column.h"
#include "trainer/data/table.h"

namespace trainer::data {

/// How columns are to be fitted.
struct FitOptions {
  config::Fill fill = config::Fill::kMean;
  double fill_value = 0;           // for kConstant
  bool missing_indicator = false;  // of numeric columns; categorical ones always mark missing cells
  int64_t embed_above = std::numeric_limits<int64_t>::max();  // categories, to be embedded
  int64_t embedding_size = 0;                                 // 0: default_embedding_size()
  bool quantiles = false;                                     // whether numbers become places
};

/// The columns of `table` with what is learnt from the rows `train_rows`: fills, categories (sorted
/// by value when all are numbers, else by their bytes), whether a cell was missing, and quantiles
/// of the cells with their fills. A column without a value in these rows is left out, with a
/// reason. Throws Error(kData) where that was declared in the configuration, and when no feature is
/// left.
std::vector<Column> fit_columns(const Table& table, std::span<const int64_t> train_rows,
                                const FitOptions& options);

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

/// A line that counts the cells of a category that is not known by their columns, and nothing where
/// there are none: `part` says where.
std::vector<std::string> describe_unknown(const std::vector<Column>& columns,
                                          const std::vector<int64_t>& num_unknown,
                                          const std::string& part);

}  // namespace trainer::data
