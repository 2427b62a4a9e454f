// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "trainer/base/memory/array.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/source/data_file.h"
#include "trainer/table/source/target_cells.h"

namespace trainer::data {

/// A dense row-major matrix `[num_rows, num_columns]` in plain memory. Images keep their bytes:
/// they become numbers only when a batch is gathered, so that they need a quarter of the memory.
struct Matrix {
  int64_t num_rows = 0;
  int64_t num_columns = 0;
  std::variant<Array<float>, Array<uint8_t>> values;
};

/// The bytes of one row.
inline int64_t row_bytes(const Matrix& matrix) {
  return matrix.num_columns * (std::holds_alternative<Array<uint8_t>>(matrix.values) ? 1 : 4);
}

enum class Split : uint8_t { kTrain, kValidation, kTest };

/// What a data file holds, before anything is learned from it: features, and the targets of
/// a row. A cell of a text column is a number too: the index of its text in `dictionaries`. NaN is
/// a missing cell.
struct Table {
  std::string file;                        // for messages; empty when the data came from no file
  Array<int64_t> lines;                    // [num_rows] where each row begins in a text file
  bool has_lines = true;                   // else `lines` are numbers of the rows, from 1 on
  std::vector<std::string> feature_names;  // [num_columns]
  Matrix features;
  /// [num_columns] what was subtracted from numbers (Scaling); empty: nothing of any. A table with
  /// a header has it in `columns`.
  std::vector<double> offsets = {};
  std::vector<std::string> target_names;
  TargetCells targets;                    // [num_rows, target_names]
  std::vector<Fingerprint> fingerprints;  // of the files that it was read from

  // Only of a table with a header; else all features are numbers.
  std::vector<Column> columns = {};  // all but the target; nothing is fitted yet
  std::vector<std::vector<std::string>> dictionaries = {};  // [num_columns]; empty for numbers
  std::vector<int64_t> num_missing = {};                    // [num_columns] cells
  Array<Split> splits = {};                // [num_rows] if a column divides the rows
  Array<int64_t> groups = {};              // [num_rows] if rows are in groups, from 0 on
  Array<double> times = {};                // [num_rows] if a column has them
  Array<float> weights = {};               // [num_rows] if a column has them, at least 0
  std::vector<std::string> id_names = {};  // where ids are kept
  std::vector<std::string> ids = {};       // [num_rows, id_names]
  int64_t num_without_target = 0;          // rows that were left out for that
  int64_t num_weightless = 0;              // rows that were left out because their weight is 0
};

/// The element at (row, column) as a number.
double value_at(const Matrix& matrix, int64_t row, int64_t column);

/// Makes the bytes of `matrix` numbers less the offset of their column; without `offsets
/// [num_columns]` they stay bytes.
void subtract_offsets(Matrix& matrix, std::span<const double> offsets);

/// The rows of `matrix` that `rows` names, in that order.
Matrix take_rows(const Matrix& matrix, std::span<const int64_t> rows);

/// Drops all rows of `matrix` but `rows`, which ascend, without a second copy.
void keep_rows(Matrix& matrix, std::span<const int64_t> rows);

}  // namespace trainer::data
