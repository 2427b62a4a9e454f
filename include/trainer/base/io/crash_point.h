// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// Marks a point at which a killed process leaves files unfinished, so that tests can stop at each
/// of them. With TRAINER_CRASH_AT=n in the environment the n-th call kills the process (SIGKILL);
/// with TRAINER_STOP_AT_EACH=1 each call stops it (SIGSTOP) until it receives SIGCONT. Does nothing
/// otherwise.
void crash_point();

}  // namespace trainer
