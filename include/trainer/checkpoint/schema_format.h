// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/archive/value.h"
#include "trainer/checkpoint/reader.h"
#include "trainer/data/dataset.h"

namespace trainer::checkpoint {

/// Returns the format version that a checkpoint with this schema needs, the lowest one whose
/// programs can apply it: 4, 5 for columns with offsets or limits, or kFormatVersion for columns
/// that are derived from others.
int64_t format_version(const data::Schema& schema);

/// Returns the entries of the `schema` section of a checkpoint.
archive::Dict to_dict(const data::Schema& schema);

/// Reads the `schema` section of a file of this format version. Throws Error(kCheckpoint) for an
/// entry that is missing, of the wrong type or inconsistent with others.
data::Schema read_schema(const Reader& reader, int64_t version);

}  // namespace trainer::checkpoint
