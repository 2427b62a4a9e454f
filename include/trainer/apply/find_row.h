// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "trainer/apply/model.h"
#include "trainer/apply/source_cells.h"
#include "trainer/table/source/table_source.h"

namespace trainer::apply {

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
