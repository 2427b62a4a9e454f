// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "trainer/data/csv_format.h"
#include "trainer/data/data_file.h"
#include "trainer/data/read_table.h"

#include "data/table_reader.h"

/// Tables of CSV text.
namespace trainer::data {

/// Opens files, reads their header and looks at the first rows. Throws Error(kData).
std::unique_ptr<TableReader> open_csv(const TableSource& source, const ColumnOptions& options);

/// The same with the columns that a model was trained on. One file may be of any `kind`.
std::unique_ptr<TableReader> open_csv(const TableSource& source, const TrainedColumns& trained,
                                      DataFile::Kind kind);
std::unique_ptr<TableReader> open_csv(DataFile file, const CsvFormat& format,
                                      const TrainedColumns& trained);

}  // namespace trainer::data
