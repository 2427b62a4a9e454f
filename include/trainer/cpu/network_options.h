// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/cpu/operands.h"

/// What a network is made of and what goes through it.
namespace trainer::cpu {

/// A table `[num_rows, size]` that is learnt. Its feature is the number of a row, which takes the
/// feature's place.
struct Embedding {
  int64_t num_rows = 0;
  int64_t size = 0;
};

/// A multilayer perceptron as model/mlp.h describes it.
struct NetworkOptions {
  int64_t num_features = 0;
  int64_t num_outputs = 0;
  std::vector<int64_t> hidden_sizes;
  config::Activation activation = config::Activation::kRelu;
  double dropout = 0;  // probability, [0, 1)
  config::Norm norm = config::Norm::kNone;
  bool residual = false;                   // needs equal hidden sizes
  std::vector<Embedding> embeddings = {};  // of the last features, in their order

  /// Features that are no row of an embedding.
  int64_t num_plain() const { return num_features - static_cast<int64_t>(embeddings.size()); }
  /// Of all embeddings together.
  int64_t num_embedded() const {
    int64_t sum = 0;
    for (const Embedding& embedding : embeddings) sum += embedding.size;
    return sum;
  }
  /// Of the first layer.
  int64_t num_inputs() const { return num_plain() + num_embedded(); }
};

/// A parameter and where its gradient goes; null where there is none, or where it is frozen.
struct ParameterMemory {
  const float* value = nullptr;
  float* gradient = nullptr;
};

/// The memory of one layer.
struct LayerMemory {
  ParameterMemory weight;  // [out, in]
  ParameterMemory bias;    // [out]
  ParameterMemory norm_weight;
  ParameterMemory norm_bias;
  float* running_mean = nullptr;
  float* running_var = nullptr;

  bool is_trained() const {
    return weight.gradient != nullptr || bias.gradient != nullptr ||
           norm_weight.gradient != nullptr || norm_bias.gradient != nullptr;
  }
};

/// The memory of a network, which belongs to the model.
struct NetworkMemory {
  std::vector<ParameterMemory> embeddings;  // [num_rows, size] each
  std::vector<LayerMemory> layers;
};

enum class Pass { kTraining, kInference };

/// Samples of a step that go through the network together.
struct NetworkBatch {
  GatherSource source;
  const int64_t* rows = nullptr;  // [num_rows] of the source
  int64_t num_rows = 0;
  uint64_t dropout_seed = 0;
  int64_t first_row = 0;  // of this batch within the step
};

/// A loss is taken of at most so many rows at once.
inline constexpr int64_t kMostRowsAtOnce = 256;

}  // namespace trainer::cpu
