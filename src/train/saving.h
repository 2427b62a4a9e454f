// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/fit.h"

namespace trainer::train {

/// Copies the state and writes it while training goes on, one checkpoint at a time. Throws what
/// went wrong with the one before.
void save(const Session& session, Output& output, checkpoint::SaveReason reason,
          checkpoint::Store::IsBest is_best);

/// Returns when the last checkpoint is on the disk. Throws what went wrong.
void wait_for_saving(Output& output);

/// Saves where checkpoint.every_steps, checkpoint.every_seconds or SIGUSR1 asks for it.
void save_within_epoch(const Session& session, Output& output);

/// Saves at the end of an epoch as checkpoint.every_epochs asks for it, and the best one always.
void save_epoch(const Session& session, Output& output, checkpoint::Store::IsBest is_best);

}  // namespace trainer::train
