// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/profile/workload.h"
#include "trainer/train/session.h"

#include "engine/decisions.h"

namespace trainer::engine {

/// What a profile says of the session and its memory after `num_rows` rows of training, in all
/// processes.
profile::Workload describe_workload(const train::Session& session, const Decisions& decisions,
                                    int64_t num_rows);

}  // namespace trainer::engine
