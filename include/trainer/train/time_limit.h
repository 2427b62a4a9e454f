// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/train/session.h"

namespace trainer::train {

/// Estimates the seconds of an epoch: its steps, of which some are timed, the evaluation, and the
/// checkpoint. Does not change the state of the session.
double estimate_epoch_seconds(Session& session);

/// Sets the number of epochs of a run that has not begun, and adapts its schedule.
void set_epochs(Session& session, int64_t epochs);

}  // namespace trainer::train
