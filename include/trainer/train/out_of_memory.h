// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "trainer/train/session.h"

namespace trainer::train {

/// Runs the next step of the session, with retries. If memory runs out before the weights change,
/// does what training.on_out_of_memory says; if a scaled fp16 gradient overflows, halves the loss
/// scale. Then repeats the step with the same samples. The result is always that of the whole
/// batch. Throws Error(kOutOfMemory) if no fallback is left.
StepStats run_step(Session& session);

/// Returns the result of attempt(), which evaluates a split of the session. If memory runs out even
/// for single rows, and training.on_out_of_memory is fallback_cpu, moves the session to the CPU and
/// calls attempt() again; else throws Error(kOutOfMemory).
Evaluation evaluate_within_memory(Session& session, const std::function<Evaluation()>& attempt);

/// Calls TrainStep::rehearse() for the next step, with the retries of run_step().
void rehearse_step(Session& session);

/// Moves the session to the CPU with the same state, in fp32 if the CPU does not support its
/// precision, and counts it as out of memory in the recoveries.
void move_to_cpu(Session& session);

/// Calls use_threads() with the retries of run_step(), because a fused step allocates its memory
/// when it is created.
void use_threads_within_memory(Session& session, int64_t num_threads);

}  // namespace trainer::train
