// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/table/source/table_source.h"

namespace trainer::data {

/// What a table is stored as.
enum class SourceKind { kCsv, kParquet, kJson, kQuery };

/// Told by the ending of the path, of the first file of several; all others are CSV text.
SourceKind source_kind(const TableSource& source);

}  // namespace trainer::data
