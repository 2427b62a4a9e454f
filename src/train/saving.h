// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/train/fit.h"

namespace trainer::train {

/// Returns a copy of the state of a run with everything that a checkpoint file contains.
checkpoint::Checkpoint make_checkpoint(const Session& session, const Output& output);

/// Copies the state and writes it in the background, one checkpoint at a time. Throws the error of
/// the previous checkpoint.
void save(const Session& session, Output& output, checkpoint::SaveReason reason,
          checkpoint::Store::IsBest is_best);

/// Waits until the last checkpoint is on disk. Throws the error if it could not be written.
void wait_for_saving(Output& output);

/// Saves if checkpoint.every_steps, checkpoint.every_seconds or the signal SIGUSR1 asks for it.
void save_within_epoch(Session& session, Output& output);

/// Saves at the end of an epoch if checkpoint.every_epochs asks for it, if the run is finished, or
/// if the epoch is the best so far.
void save_epoch(const Session& session, Output& output, checkpoint::Store::IsBest is_best);

}  // namespace trainer::train
