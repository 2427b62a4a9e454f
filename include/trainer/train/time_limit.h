// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/train/session.h"

namespace trainer::train {

/// The time of an epoch, in seconds: of its steps, some of which are timed, of the evaluation and
/// of the checkpoint after it. Changes nothing.
double estimate_epoch_seconds(Session& session);

/// Plans the run, which has not begun, for so many epochs.
void set_epochs(Session& session, int64_t epochs);

}  // namespace trainer::train
