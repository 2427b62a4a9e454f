// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/optimizer_config.h"
#include "trainer/config/types.h"

namespace trainer::config {

// The bounds, units and meanings of all members are documented once, in src/config/fields.cpp.

/// The keys of the section `training.schedule`: how learning rate, dropout and weight decay change
/// during a run.
struct ScheduleConfig {
  ScheduleName name = ScheduleName::kCosine;
  double warmup_epochs = 0.0;
  double final_factor = 0.0;
  int64_t step_epochs = 10;
  double gamma = 0.1;
  double rise_fraction = 0.3;
  double initial_factor = 0.04;
  int64_t patience = 10;
  double threshold = 1e-4;
  int64_t cooldown = 0;
  double min_learning_rate = 0.0;
  int64_t cycles = 4;
  FactorSchedule dropout = FactorSchedule::kConstant;
  FactorSchedule weight_decay = FactorSchedule::kConstant;
};

/// The keys of the section `training.early_stopping`, which ends a run that no longer improves.
struct EarlyStoppingConfig {
  int64_t patience = 0;
  double min_delta = 0.0;
};

/// The keys of the section `training`: what is minimized, by which steps, and for how long.
struct TrainingConfig {
  int64_t epochs = 10;
  double max_seconds = 0;  // 0: no limit
  int64_t seed = 0;        // 0: auto, the seed of the run
  int64_t batch_size = 32;
  bool drop_last = false;
  double learning_rate = 1e-3;
  Loss loss = Loss::kAuto;
  double label_smoothing = 0.0;
  double huber_delta = 1.0;
  double gradient_clip_norm = 1.0;
  int64_t gradient_accumulation_steps = 1;
  StepKind step = StepKind::kAuto;
  BestMetric best_metric = BestMetric::kLoss;
  BestTies best_ties = BestTies::kFirst;
  bool calibrate = false;
  OnNonFinite on_nonfinite = OnNonFinite::kStop;
  OnOutOfMemory on_out_of_memory = OnOutOfMemory::kSplit;
  CudaGraphs cuda_graphs = CudaGraphs::kAuto;
  std::vector<std::string> freeze;
  std::vector<std::string> lr_factors;
  double ema_decay = 0.0;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  EarlyStoppingConfig early_stopping;
};

}  // namespace trainer::config
