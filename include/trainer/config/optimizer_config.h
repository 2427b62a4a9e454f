// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/config/types.h"

namespace trainer::config {

/// The numbers of an optimizer: those that a user sets and those that its updates compute with.
struct OptimizerConfig {
  OptimizerName name = OptimizerName::kAdamw;
  double weight_decay = 0.01;
  bool decay_bias_and_norm = false;
  double momentum = 0.9;  // sgd
  bool nesterov = false;  // sgd
  double beta1 = 0.9;     // adam, adamw
  double beta2 = 0.999;   // adam, adamw
  double epsilon = 1e-8;  // adam, adamw
};

}  // namespace trainer::config
