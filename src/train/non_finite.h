// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/fit.h"

namespace trainer::train {

enum class Reaction { kSkipped, kRolledBack };

/// Does what training.on_nonfinite says after the session's next step, whose loss or gradient was
/// not finite. Throws Error(kNonFinite) where that is to stop, or after kMaxRollbacks.
Reaction react_to_non_finite(Session& session, Output& output, const StepStats& stats);

/// Throws Error(kNonFinite) where training.on_nonfinite is to stop: the loss of an evaluation says
/// that the model is beyond help, and no step is there to be left out. Warns otherwise.
void react_to_non_finite(const Session& session, Output& output, const run::MetricsRecord& record);

/// Throws Error(kNonFinite) when no step of the epoch that ends could be made.
void check_any_step_made(const Session& session, Output& output);

}  // namespace trainer::train
