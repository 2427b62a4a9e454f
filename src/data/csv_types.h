// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/csv_cursor.h"
#include "data/csv_header.h"

namespace trainer::data {

/// Decides by their first cells what the open columns of `header` are, and the offsets of numbers.
/// `cursor` stands before the first row and is behind some when this returns.
void infer_column_types(CsvCursor& cursor, CsvHeader& header);

}  // namespace trainer::data
