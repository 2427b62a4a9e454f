// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/archive/value.h"
#include "trainer/checkpoint/reader.h"
#include "trainer/data/dataset.h"

namespace trainer::checkpoint {

/// The version of the format that a checkpoint with this schema needs: 4 where older programs can
/// apply it, else kFormatVersion.
int64_t format_version(const data::Schema& schema);

/// The entries of a checkpoint's `schema` section.
archive::Dict to_dict(const data::Schema& schema);

/// The schema that a `schema` section of a file of that format version holds. Throws
/// Error(kCheckpoint) for an entry that is missing, of the wrong type or at odds with others.
data::Schema read_schema(const Reader& reader, int64_t version);

}  // namespace trainer::checkpoint
