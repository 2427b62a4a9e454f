// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainer/config/types.h"

namespace trainer::config {

/// The keys of the section `training.optimizer`. Optimizers compute their updates with this struct.
struct OptimizerConfig {
  OptimizerName name = OptimizerName::kAdamw;
  double weight_decay = 0.01;
  bool decay_bias_and_norm = false;
  double momentum = 0.9;  // sgd, rmsprop
  bool nesterov = false;  // sgd
  double beta1 = 0.9;     // adam, adamw
  double beta2 = 0.999;   // adam, adamw, rmsprop
  double epsilon = 1e-8;  // adam, adamw, rmsprop
};

/// A factor of the learning rate of some parameters, from an element of `training.lr_factors`.
struct LearningRateFactor {
  std::string pattern;  // matches names of parameters, see matches_any() in base/text/parse.h
  double factor = 1;
};

/// Parses a factor such as "*.bias=0.1". Returns nothing if `text` is not a pattern and a finite
/// number of at least 0.
std::optional<LearningRateFactor> parse_lr_factor(std::string_view text);

}  // namespace trainer::config
