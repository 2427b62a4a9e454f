// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/nn/spec/mlp.h"
#include "trainer/torch/model/network.h"

#include "support/test_device.h"

namespace trainer::test {

/// What a network of a test is made of.
struct MlpRecipe : network::MlpOptions {
  std::vector<std::string> freeze;
  std::vector<config::LearningRateFactor> lr_factors;
  config::Precision precision = config::Precision::kFp32;
  bool activation_checkpointing = false;
};

/// 5 features, two hidden layers of 4, 3 outputs: the networks of the golden files too.
inline MlpRecipe small_network() {
  MlpRecipe options;
  options.num_features = 5;
  options.hidden_sizes = {4, 4};
  options.num_outputs = 3;
  return options;
}

/// On test_device(), with all parameters zero.
inline model::Network make_network(const MlpRecipe& recipe) {
  return {network::mlp(recipe),
          {.freeze = recipe.freeze,
           .lr_factors = recipe.lr_factors,
           .precision = recipe.precision,
           .activation_checkpointing = recipe.activation_checkpointing},
          test_device()};
}

/// On test_device(), with initial parameters.
inline model::Network make_initialized(const MlpRecipe& recipe, uint64_t seed = 1) {
  model::Network network = make_network(recipe);
  model::initialize(network, seed);
  return network;
}

}  // namespace trainer::test
