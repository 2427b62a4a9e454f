// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "trainer/data/read_table.h"
#include "trainer/data/table_source.h"

#include "data/table_reader.h"

/// Tables that DuckDB reads.
namespace trainer::data {

/// Asks DuckDB for the columns and looks at the first rows. Throws Error(kData), and Error(kUsage)
/// without DuckDB.
std::unique_ptr<TableReader> open_query(const TableSource& source, const ColumnOptions& options);

/// The same with the columns that a model was trained on.
std::unique_ptr<TableReader> open_query(const TableSource& source, const TrainedColumns& trained);

}  // namespace trainer::data
