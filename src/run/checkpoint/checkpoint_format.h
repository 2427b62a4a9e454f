// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/base/archive/dict_reader.h"
#include "trainer/base/archive/value.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/run_state.h"

namespace trainer::checkpoint {

/// Returns the complete content of a checkpoint file.
archive::Dict to_dict(const Checkpoint& checkpoint);

/// Returns the entries of the `progress` section of a checkpoint.
archive::Dict to_dict(const RunState& state);

/// Reads the `progress` section of a file of this format version. Throws Error(kCheckpoint) for an
/// entry that is missing or of the wrong type.
RunState read_run_state(const archive::DictReader& progress, int64_t version);

}  // namespace trainer::checkpoint
