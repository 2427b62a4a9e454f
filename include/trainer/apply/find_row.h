// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "trainer/apply/model.h"
#include "trainer/apply/source_cells.h"
#include "trainer/data/table_source.h"

namespace trainer::apply {

/// One row of the data.
struct FoundRow {
  std::string name;        // "line 7 of t.csv", "row 3 of x.npy"
  data::Matrix features;   // [1, num_features], encoded
  SourceCells cells = {};  // of this row
};

/// The row that begins at this line of a file of text; of other data the row of this number, from 1
/// on. Throws Error(kUsage) where there is no such row, and as predict() does.
FoundRow find_row(const Model& model, const data::TableSource& source, int64_t number);

/// The same in the run's own data, of which the name tells the split. Throws as own_datasets()
/// does.
FoundRow find_own_row(const Model& model, int64_t number);

}  // namespace trainer::apply
