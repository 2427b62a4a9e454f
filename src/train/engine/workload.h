// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/diagnose/profile/workload.h"
#include "trainer/train/session.h"

#include "train/engine/decisions.h"

namespace trainer::engine {

/// Describes the network, device, batch size and memory of the session for a profile. `num_rows`
/// rows were trained on in all processes together; the result has the share of this one.
profile::Workload describe_workload(const train::Session& session, const Decisions& decisions,
                                    int64_t num_rows);

}  // namespace trainer::engine
