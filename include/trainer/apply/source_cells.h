// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/data/table_source.h"

namespace trainer::apply {

/// Cells of rows of a table as its file has them.
struct SourceCells {
  bool has_lines = false;          // whether rows are told by their line, else by their number
  std::vector<std::string> names;  // of the columns that are there: ids first, then features
  std::size_t num_ids = 0;         // of these
  /// By line or number of the row, `[names]`; a cell without a value is "missing".
  std::map<int64_t, std::vector<std::string>> rows;

  /// The cell of a column, or nullptr.
  const std::string* find(int64_t row, const std::string& column) const;
};

/// Those of the rows that begin at these lines, or have these numbers. None of a stream, which can
/// be read once. Throws Error(kData) as predict() does.
SourceCells source_cells(const Model& model, const data::TableSource& source,
                         std::span<const int64_t> rows);

/// Those of a split ("test", "validation" or "training") of the run's own data; none where these
/// are no table.
SourceCells own_cells(const Model& model, const std::string& split, std::span<const int64_t> rows);

}  // namespace trainer::apply
