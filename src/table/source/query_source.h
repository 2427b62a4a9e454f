// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "table/source/chunk.h"

namespace trainer::data {

/// A table that DuckDB reads: a query, Parquet or JSON.
std::unique_ptr<ChunkSource> open_query(const TableSource& source);

}  // namespace trainer::data
