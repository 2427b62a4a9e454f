// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/config/config.h"
#include "trainer/model/init.h"
#include "trainer/model/mlp.h"

namespace trainer::test {

/// 5 features, two hidden layers of 4, 3 outputs: the networks of the golden files too.
inline model::MlpOptions small_network() {
  model::MlpOptions options;
  options.num_features = 5;
  options.hidden_sizes = {4, 4};
  options.num_outputs = 3;
  return options;
}

/// A network on the CPU with initial weights.
inline model::Mlp make_mlp(const model::MlpOptions& options,
                           config::Init scheme = config::Init::kPytorch, uint64_t seed = 1) {
  model::Mlp mlp(options, c10::kCPU);
  model::initialize(mlp, scheme, seed);
  return mlp;
}

}  // namespace trainer::test
