// SPDX-License-Identifier: Apache-2.0
#include "train/saving.h"

#include <utility>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/base/time/timeline.h"

namespace trainer::train {

using checkpoint::SaveReason;
using IsBest = checkpoint::Store::IsBest;

checkpoint::Checkpoint make_checkpoint(const Session& session, const Output& output) {
  checkpoint::Checkpoint checkpoint = snapshot(session);
  checkpoint.config = output.config;
  checkpoint.num_threads = output.num_threads;
  checkpoint.metrics_bytes = output.metrics.num_bytes();
  return checkpoint;
}

void save(const Session& session, Output& output, SaveReason reason, IsBest is_best) {
  if (!session.world->is_first()) return;
  const TimedStage timed(Stage::kSave);
  wait_for_saving(output);
  checkpoint::Checkpoint checkpoint = make_checkpoint(session, output);
  output.checkpoint_time.restart();
  output.saving = std::async(std::launch::async,
                             [&output, reason, is_best, checkpoint = std::move(checkpoint)] {
                               const TimedWork writing(Work::kWriteCheckpoint);
                               // Records that a checkpoint refers to must survive a power
                               // failure.
                               output.metrics.sync();
                               output.checkpoints.save(checkpoint, reason, is_best);
                             });
}

void wait_for_saving(Output& output) {
  if (!output.saving.valid()) return;
  const TimedStage timed(Stage::kSave);
  output.saving.get();
}

namespace {

// Returns whether any process has received SIGUSR1, and clears the request.
bool take_request(Session& session) {
  return session.world->is_alone() ? take_save_request()
                                   : std::exchange(session.requests.save, false);
}

}  // namespace

void save_within_epoch(Session& session, Output& output) {
  const config::CheckpointConfig& config = session.config.checkpoint;
  if (config.every_steps > 0 && session.state.position.step % config.every_steps == 0) {
    save(session, output, SaveReason::kStep, IsBest::kNo);
  } else if (config.every_seconds > 0 && output.checkpoint_time.seconds() >= config.every_seconds) {
    save(session, output, SaveReason::kOther, IsBest::kNo);
  }
  if (!take_request(session)) return;
  save(session, output, SaveReason::kOther, IsBest::kNo);
  wait_for_saving(output);
  const std::string file = output.checkpoints.last().string();
  const int64_t step = session.state.position.step;
  log::event("saved", fmt::format("saved {} after step {} (SIGUSR1)", file, with_thousands(step)),
             {{"step", step}, {"file", file}});
}

void save_epoch(const Session& session, Output& output, IsBest is_best) {
  const bool is_due = session.state.position.epoch % session.config.checkpoint.every_epochs == 0;
  if (is_due || finished(session)) {
    save(session, output, SaveReason::kEpoch, is_best);
  } else if (is_best == IsBest::kYes) {
    save(session, output, SaveReason::kOther, is_best);
  }
}

}  // namespace trainer::train
