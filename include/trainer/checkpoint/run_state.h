// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trainer/metrics/score.h"
#include "trainer/schedule/loss_scale.h"
#include "trainer/schedule/plateau.h"

namespace trainer::checkpoint {

/// How far a run has come. The order of the samples follows from seed and epoch, the learning rate
/// from the step: nothing else of them is state.
struct Position {
  int64_t epoch = 0;             // epochs completed
  int64_t step = 0;              // optimizer steps done
  int64_t samples_in_epoch = 0;  // of the epoch under way, used so far

  bool operator==(const Position&) const = default;
};

/// Sums over samples, so that the records of metrics.jsonl are the same after a resume.
struct Totals {
  double loss_sum = 0;
  int64_t num_correct = 0;  // of the rows of all members of a network
  int64_t num_samples = 0;

  bool operator==(const Totals&) const = default;
};

/// The best epoch so far by training.best_metric.
struct Best {
  int64_t epoch = 0;
  double value = 0;

  bool operator==(const Best&) const = default;
};

/// What a run has recovered from so far.
struct Recoveries {
  int64_t skipped_steps = 0;     // by training.on_nonfinite: skip
  int64_t rollbacks = 0;         // by training.on_nonfinite: rollback; each halved the rate
  int64_t overflowed_steps = 0;  // retried because a scaled fp16 gradient overflowed
  int64_t out_of_memory = 0;     // times that memory ran out and the run continued
  int64_t micro_batch_size = 0;  // rows of a batch that are computed together; 0: all of them
  bool has_fallen_back = false;  // from an accelerator to the CPU

  bool operator==(const Recoveries&) const = default;
};

/// What changes from step to step, besides the weights and the optimizer's moments. A session works
/// on it, a checkpoint keeps it, a resume continues from it.
struct RunState {
  Position position;
  Totals epoch_totals;     // of the epoch under way, up to the last training record
  Totals interval_totals;  // since the last training record
  std::optional<Best> best;
  int64_t epochs_without_improvement = 0;
  double temperature = 1;  // of training.calibrate after the last completed epoch
  Recoveries recoveries;
  std::optional<schedule::LossScaleState> scaler;  // precision: fp16 only
  std::optional<schedule::PlateauState> plateau;   // training.schedule.name: reduce_on_plateau only

  bool operator==(const RunState&) const = default;
};

/// The metrics of the last epoch that was complete, as its records have them (metrics.jsonl): loss,
/// accuracy and others.
struct EpochMetrics {
  int64_t epoch = 0;  // 0: none was complete, or the file is of a program that did not write them
  std::vector<metrics::Score> train = {};
  std::vector<metrics::Score> validation = {};  // empty without a validation split

  bool operator==(const EpochMetrics&) const = default;
};

}  // namespace trainer::checkpoint
