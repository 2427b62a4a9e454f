// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/base/archive/value.h"
#include "trainer/run/checkpoint/checkpoint.h"

namespace trainer::checkpoint {

/// Returns the complete content of a checkpoint file.
archive::Dict to_dict(const Checkpoint& checkpoint);

}  // namespace trainer::checkpoint
