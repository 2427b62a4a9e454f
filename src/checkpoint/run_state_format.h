// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/archive/value.h"
#include "trainer/checkpoint/reader.h"
#include "trainer/checkpoint/run_state.h"

namespace trainer::checkpoint {

/// The entries of a checkpoint's `progress` section.
archive::Dict to_dict(const RunState& state);

/// The state that a `progress` section of a file of that format version holds.
RunState read_run_state(const Reader& progress, int64_t version);

}  // namespace trainer::checkpoint
