// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/data_config.h"
#include "trainer/config/optimizer_config.h"
#include "trainer/config/types.h"

namespace trainer::config {

// Bounds, units and meanings of all members stand once, in src/config/fields.cpp; the reference
// page docs/configuration.md is made from there.

struct ModelConfig {
  Architecture name = Architecture::kMlp;
  int64_t hidden_size = 128;
  int64_t num_layers = 2;
  std::vector<int64_t> hidden_sizes;
  Activation activation = Activation::kRelu;
  double dropout = 0.0;
  Norm norm = Norm::kNone;
  bool residual = false;
  bool activation_checkpointing = false;
  Init init = Init::kPytorch;
  std::string init_from;
  std::vector<std::string> init_skip;
};

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
};

struct EarlyStoppingConfig {
  int64_t patience = 0;
  double min_delta = 0.0;
};

struct TrainingConfig {
  int64_t epochs = 10;
  int64_t batch_size = 32;
  double learning_rate = 1e-3;
  Loss loss = Loss::kAuto;
  double label_smoothing = 0.0;
  double huber_delta = 1.0;
  double gradient_clip_norm = 1.0;
  int64_t gradient_accumulation_steps = 1;
  StepKind step = StepKind::kAuto;
  BestMetric best_metric = BestMetric::kLoss;
  OnNonFinite on_nonfinite = OnNonFinite::kStop;
  OnOutOfMemory on_out_of_memory = OnOutOfMemory::kSplit;
  std::vector<std::string> freeze;
  double ema_decay = 0.0;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  EarlyStoppingConfig early_stopping;
};

struct CheckpointConfig {
  int64_t every_epochs = 1;
  int64_t every_steps = 0;     // 0: none within an epoch
  double every_seconds = 300;  // 0: none by the clock
  int64_t keep_last = 3;
};

struct LoggingConfig {
  LogLevel level = LogLevel::kInfo;
  int64_t save_interval = 50;
};

/// Everything that a run depends on. Each member is one row of the field table.
struct Config {
  int64_t seed = 42;
  std::string device = "auto";
  bool device_fallback = true;
  Precision precision = Precision::kFp32;
  int64_t threads = 0;  // 0 = auto
  std::string output_dir = "runs";
  std::string tag;
  DataConfig data;
  ModelConfig model;
  TrainingConfig training;
  CheckpointConfig checkpoint;
  LoggingConfig logging;
};

/// The widths of the hidden layers: `hidden_sizes` where it is set, else `num_layers` times
/// `hidden_size`.
std::vector<int64_t> hidden_sizes(const ModelConfig& model);

}  // namespace trainer::config
