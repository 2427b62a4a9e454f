// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "trainer/train/session.h"

namespace trainer::train {

/// Runs the session's next step, with retries. If memory runs out before the weights change, does
/// what training.on_out_of_memory says; if a scaled fp16 gradient overflows, halves the loss scale.
/// Then it repeats the step with the same samples. The result is that of the whole batch.
/// Throws Error(kOutOfMemory) if no fallback is left.
StepStats run_step(Session& session);

/// What attempt() returns, which evaluates a split of the session. If memory runs out even for
/// single rows, calls it again on the CPU where training.on_out_of_memory says so, else throws
/// Error(kOutOfMemory).
Evaluation evaluate_within_memory(Session& session, const std::function<Evaluation()>& attempt);

/// TrainStep::rehearse() of the next step, with the same retries.
void rehearse_step(Session& session);

/// Continues on the CPU with the same state, in fp32 if it lacks the precision, and counts that
/// memory ran out.
void move_to_cpu(Session& session);

/// use_threads() with the same retries: a fused step allocates its memory when it is created.
void use_threads_within_memory(Session& session, int64_t num_threads);

}  // namespace trainer::train
