// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/table/dataset.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/table.h"

/// Turns the cells of a table into features, and features into what they say of cells.

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

/// The number of a numeric column whose feature this is, less the offset of the column: the number
/// that filled a missing cell, and one of about the same rank in a column with quantiles.
float decoded_number(const Column& column, float feature);

/// The cell as people read it: "39.1" in the units of the file, "Torgersen", "missing", or
/// "unknown" for a category that the training split lacks. `features` are those of the column.
std::string decoded_text(const Column& column, std::span<const float> features);

/// The rows of another table (of read_table_as, TableReader or read_idx_pair) with their targets,
/// as a model of `schema` was trained on them; regression targets are scaled. Adds to `num_unknown`
/// `[columns]`, which may be empty, the cells with a category that is not known. Throws
/// Error(kData) as encode() does, for a label that the model does not know (`origin` is the file of
/// those that it knows) and for a target that is no finite number.
Dataset apply_schema(Table&& table, const Schema& schema, const std::string& origin,
                     std::vector<int64_t>& num_unknown);

}  // namespace trainer::data
