// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/data_config.h"
#include "trainer/config/distributed_config.h"
#include "trainer/config/logging_config.h"
#include "trainer/config/model_config.h"
#include "trainer/config/training_config.h"
#include "trainer/config/types.h"

namespace trainer::config {

// Bounds, units and meanings of all members stand once, in src/config/fields.cpp; the reference
// page docs/configuration.md is made from there.

/// The keys of `checkpoint`.
struct CheckpointConfig {
  int64_t every_epochs = 1;
  int64_t every_steps = 0;     // 0: none within an epoch
  double every_seconds = 300;  // 0: none by the clock
  int64_t keep_last = 3;
};

/// Everything that a run depends on; each member is one row of the field table. What needs a part
/// of it includes that part.
struct Config {
  Recipe recipe = Recipe::kPlain;
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
  DistributedConfig distributed;

  /// Keys that are not decided yet: those that the recipe derives from the data, see
  /// complete_recipe(), and training.epochs with a time limit. Not a key.
  std::vector<std::string> pending;
};

/// Seeds initial weights, row order and dropout: training.seed, or where that is auto `seed`.
inline uint64_t training_seed(const Config& config) {
  return static_cast<uint64_t>(config.training.seed > 0 ? config.training.seed : config.seed);
}

}  // namespace trainer::config
