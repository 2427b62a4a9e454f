// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/table/source/table_source.h"

namespace trainer::apply {

/// The cells of some rows of a table, as texts of its file.
struct SourceCells {
  bool has_lines = false;          // true: rows are identified by line; false: by number
  std::vector<std::string> names;  // columns of the model that the file has: ids, then features
  std::size_t num_ids = 0;         // number of ids in `names`
  /// The cells `[names]` of each row, by its line or number; a cell without a value is "missing".
  std::map<int64_t, std::vector<std::string>> rows;

  /// The cell of a column in the row with this line or number; null if there is none.
  const std::string* find(int64_t row, const std::string& column) const;
};

/// Reads the cells of the rows that begin at the lines `rows`, or have these numbers. Returns none
/// for standard input and pipes, which can be read only once. Throws Error(kData) as predict()
/// does.
SourceCells source_cells(const Model& model, const data::TableSource& source,
                         std::span<const int64_t> rows);

/// Reads the cells of rows of a split ("test", "validation" or "training") of the run's own data;
/// none if the data is not a table.
SourceCells own_cells(const Model& model, const std::string& split, std::span<const int64_t> rows);

/// A row that the user asked for, with its features and its cells.
struct FoundRow {
  std::string name;        // "line 7 of t.csv", "row 3 of x.npy"
  data::Matrix features;   // [1, num_features], encoded
  SourceCells cells = {};  // its cells as the file has them
};

/// Finds the row that begins at line `number` of a text file, or in other data the row of this
/// number, counted from 1. Throws Error(kUsage) if there is no such row, and as predict() does.
FoundRow find_row(const Model& model, const data::TableSource& source, int64_t number);

/// Finds a row in the run's own data, all splits; the `name` of the row includes its split. Throws
/// Error(kUsage) if there is no such row, and as own_datasets() does.
FoundRow find_own_row(const Model& model, int64_t number);

}  // namespace trainer::apply
