// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/fit.h"

namespace trainer::train {

enum class Reaction { kSkipped, kRolledBack };

/// Does what training.on_nonfinite says after a step whose loss or gradient was not finite. Throws
/// Error(kNonFinite) if that is stop, or after kMaxRollbacks rollbacks.
Reaction react_to_non_finite(Session& session, Output& output, const StepStats& stats);

/// If the loss of `record` is not finite, throws Error(kNonFinite) if training.on_nonfinite is
/// stop, else warns, because there is no step to skip.
void react_to_non_finite(const Session& session, Output& output, const run::MetricsRecord& record);

/// Throws Error(kNonFinite) if all steps of the current epoch were skipped.
void check_any_step_made(const Session& session, Output& output);

}  // namespace trainer::train
