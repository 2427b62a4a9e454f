// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "table/source/chunk.h"
#include "table/source/table_header.h"

namespace trainer::data {

/// Decides by the first rows of `source` what the open columns of `header` are, and the offsets of
/// numbers; `source` is to be started again.
void decide_by_sample(ChunkSource& source, TableHeader& header);

}  // namespace trainer::data
