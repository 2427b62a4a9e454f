// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/csv_source.h"
#include "data/table_header.h"

namespace trainer::data {

/// Decides by their first cells what the open columns of `header` are, and the offsets of numbers.
/// `source` stands behind its header, and behind some rows when this returns.
void infer_column_types(CsvSource& source, TableHeader& header);

}  // namespace trainer::data
