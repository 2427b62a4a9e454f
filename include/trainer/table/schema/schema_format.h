// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/base/archive/dict_reader.h"
#include "trainer/base/archive/value.h"
#include "trainer/table/dataset.h"

namespace trainer::data {

/// The newest version of the format of checkpoints that this program writes; it reads this one and
/// all older ones. A file gets the lowest version whose programs can apply it. docs/file-formats.md
/// lists what each version added.
inline constexpr int64_t kFormatVersion = 6;

/// Returns the format version that a checkpoint with this schema needs, the lowest one whose
/// programs can apply it: 4, 5 for columns with offsets or limits, or kFormatVersion for columns
/// that are derived from others.
int64_t format_version(const Schema& schema);

/// Returns the entries of the `schema` section of a checkpoint.
archive::Dict to_dict(const Schema& schema);

/// Reads the `schema` section of a file of this format version. Throws Error(kCheckpoint) for an
/// entry that is missing, of the wrong type or inconsistent with others.
Schema read_schema(const archive::DictReader& reader, int64_t version);

}  // namespace trainer::data
