// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/train/fit.h"

namespace trainer::train {

/// The state of a run as it is written.
checkpoint::Checkpoint make_checkpoint(const Session& session, const Output& output);

/// Copies the state and writes it in the background, one checkpoint at a time. Throws the error of
/// the previous one.
void save(const Session& session, Output& output, checkpoint::SaveReason reason,
          checkpoint::Store::IsBest is_best);

/// Waits until the last checkpoint is on disk. Throws its error.
void wait_for_saving(Output& output);

/// Saves if checkpoint.every_steps, checkpoint.every_seconds or SIGUSR1 asks for it.
void save_within_epoch(Session& session, Output& output);

/// Saves at the end of an epoch if checkpoint.every_epochs asks for it, and always if it is the
/// best.
void save_epoch(const Session& session, Output& output, checkpoint::Store::IsBest is_best);

}  // namespace trainer::train
