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

// The bounds, units and meanings of all members are documented once, in src/config/fields.cpp, from
// which the reference page docs/configuration.md is generated.

/// The keys of the section `checkpoint`: how often checkpoints are written, and how many are kept.
struct CheckpointConfig {
  int64_t every_epochs = 1;
  int64_t every_steps = 0;     // 0: none within an epoch
  double every_seconds = 300;  // 0: none because of the time
  int64_t keep_last = 3;
};

/// The configuration of a run. Each member except `pending` is one key or section of fields(). Code
/// that needs only a part of it includes the header of that part.
struct Config {
  Recipe recipe = Recipe::kPlain;
  int64_t members = 1;
  std::vector<std::string> member_recipes;  // empty: recipe
  int64_t seed = 42;
  std::string device = "auto";
  bool device_fallback = true;
  Precision precision = Precision::kFp32;
  int64_t threads = 0;    // 0 = auto
  int64_t processes = 0;  // 0 = auto
  std::string output_dir = "runs";
  std::string tag;
  DataConfig data;
  ModelConfig model;
  TrainingConfig training;
  CheckpointConfig checkpoint;
  LoggingConfig logging;
  DistributedConfig distributed;

  /// Keys whose values are not known yet: those that the recipe derives from the data, see
  /// complete_recipe(), and training.epochs with a time limit. This is not a key itself.
  std::vector<std::string> pending;
};

/// Returns the seed of initial weights, row order and dropout: training.seed, or `seed` if that is
/// auto (0).
inline uint64_t training_seed(const Config& config) {
  return static_cast<uint64_t>(config.training.seed > 0 ? config.training.seed : config.seed);
}

}  // namespace trainer::config
