// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer {

/// Stands wherever a process that is killed leaves something half done. With TRAINER_CRASH_AT=n in
/// the environment the n-th call of the process ends it by SIGKILL: so the tests meet every such
/// moment. Does nothing otherwise.
void crash_point();

}  // namespace trainer
