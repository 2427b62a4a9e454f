// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// Marks a moment at which a killed process leaves something unfinished, so that tests can stop at
/// each of them. With TRAINER_CRASH_AT=n in the environment the n-th call of the process ends
/// it by SIGKILL; with TRAINER_STOP_AT_EACH=1 each call stops it (SIGSTOP) until somebody sends
/// SIGCONT. Does nothing otherwise.
void crash_point();

}  // namespace trainer
