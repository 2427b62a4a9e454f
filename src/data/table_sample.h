// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/chunk.h"
#include "data/row_reader.h"
#include "data/table_header.h"

namespace trainer::data {

/// Decides by the first rows of `source` what the open columns of `header` are, and the offsets of
/// numbers; `source` is to be started again.
void decide_by_sample(ChunkSource& source, TableHeader& header);

}  // namespace trainer::data
