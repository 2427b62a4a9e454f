// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trainer/metrics/score.h"
#include "trainer/nn/schedule/learning_rate.h"
#include "trainer/nn/schedule/loss_scale.h"

namespace trainer::checkpoint {

/// How far a run has come. The order of the samples is a function of seed and epoch, the learning
/// rate of the step, so neither needs a state of its own.
struct Position {
  int64_t epoch = 0;             // epochs completed
  int64_t step = 0;              // optimizer steps done
  int64_t samples_in_epoch = 0;  // samples of the current epoch that have been used

  bool operator==(const Position&) const = default;
};

/// Sums over samples, so that the records of metrics.jsonl are the same after a resume.
struct Totals {
  double loss_sum = 0;
  int64_t num_correct = 0;  // counted for all members of a network
  int64_t num_samples = 0;

  bool operator==(const Totals&) const = default;
};

/// The best epoch so far by training.best_metric.
struct Best {
  int64_t epoch = 0;
  double value = 0;

  bool operator==(const Best&) const = default;
};

/// The problems that a run has overcome so far.
struct Recoveries {
  int64_t skipped_steps = 0;  // with training.on_nonfinite: skip
  /// Rollbacks with training.on_nonfinite: rollback. Each halved the learning rate.
  int64_t rollbacks = 0;
  int64_t overflowed_steps = 0;  // retried because a scaled fp16 gradient overflowed
  int64_t out_of_memory = 0;     // how often memory ran out and the run continued
  int64_t micro_batch_size = 0;  // the most rows of a batch that are computed together; 0: all rows
  bool has_fallen_back = false;  // from an accelerator to the CPU

  bool operator==(const Recoveries&) const = default;
};

/// The state of a run that changes from step to step, besides weights and moments of the optimizer.
/// A session updates it, a checkpoint stores it, a resume continues from it.
struct RunState {
  Position position;
  Totals epoch_totals;     // sums of the current epoch, up to the last training record
  Totals interval_totals;  // sums since the last training record
  std::optional<Best> best;
  int64_t epochs_without_improvement = 0;
  double temperature = 1;  // fitted after the last complete epoch (training.calibrate)
  Recoveries recoveries;
  std::optional<schedule::LossScaleState> scaler;  // set with the precision fp16 only
  std::optional<schedule::PlateauState> plateau;   // set with the schedule reduce_on_plateau only

  bool operator==(const RunState&) const = default;
};

/// The metrics of the last complete epoch, as in its records in metrics.jsonl: loss, accuracy and
/// others.
struct EpochMetrics {
  /// 0: no epoch was complete, or the program that wrote the file did not store the metrics.
  int64_t epoch = 0;
  std::vector<metrics::Score> train = {};
  std::vector<metrics::Score> validation = {};  // empty without a validation split

  bool operator==(const EpochMetrics&) const = default;
};

}  // namespace trainer::checkpoint
