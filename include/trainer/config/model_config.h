// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/types.h"

namespace trainer::config {

// The bounds, units and meanings of all members are documented once, in src/config/fields.cpp.

/// The keys of the section `model`: the architecture of the network and its initialization.
struct ModelConfig {
  Architecture name = Architecture::kMlp;
  int64_t hidden_size = 128;
  int64_t num_layers = 2;
  std::vector<int64_t> hidden_sizes;
  Activation activation = Activation::kRelu;
  bool parametric_activation = false;
  double dropout = 0.0;
  Norm norm = Norm::kNone;
  bool residual = false;
  bool activation_checkpointing = false;
  bool input_scale = false;
  NumericEmbedding numeric_embedding = NumericEmbedding::kNone;
  int64_t numeric_embedding_size = 3;
  int64_t num_frequencies = 16;
  double frequency_deviation = 0.1;
  int64_t num_bins = 48;
  Init init = Init::kPytorch;
  bool zero_output = false;
  Parametrization parametrization = Parametrization::kStandard;
  int64_t ensemble_size = 1;
  std::string init_from;
  std::vector<std::string> init_skip;
};

/// Returns the widths of the hidden layers, the first one first: `hidden_sizes` if that is set,
/// else `num_layers` times `hidden_size`.
std::vector<int64_t> hidden_sizes(const ModelConfig& model);

}  // namespace trainer::config
