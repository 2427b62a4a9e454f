// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/train/session.h"

namespace trainer::train {

/// The session's next step, whatever it takes. Where memory runs out before the weights change,
/// does what training.on_out_of_memory says, and where a scaled fp16 gradient overflows, halves the
/// scale; then it takes the same samples again. The result is that of the whole batch.
/// Throws Error(kOutOfMemory) when nothing is left to be tried.
StepStats run_step(Session& session);

/// TrainStep::rehearse() of the next step, likewise.
void rehearse_step(Session& session);

/// Continues on the CPU with the same state, and counts that memory ran out.
void move_to_cpu(Session& session);

/// use_threads(), likewise: a fused step takes all its memory when it is made.
void use_threads_within_memory(Session& session, int64_t num_threads);

}  // namespace trainer::train
