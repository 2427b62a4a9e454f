// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/network/spec.h"

namespace trainer::network {

/// The size of an embedding table.
struct TableSize {
  int64_t num_rows = 0;
  int64_t size = 0;
};

/// What mlp() builds from.
struct MlpOptions {
  int64_t num_features = 0;
  int64_t num_outputs = 0;
  std::vector<int64_t> hidden_sizes = {};
  config::Activation activation = config::Activation::kRelu;
  double dropout = 0;  // probability, [0, 1)
  config::Norm norm = config::Norm::kNone;
  bool residual = false;                   // needs equal hidden sizes
  std::vector<TableSize> embeddings = {};  // one for each of the last features
  config::Init init = config::Init::kPytorch;
};

/// A multilayer perceptron. Each hidden layer is linear, norm, activation, dropout; with residuals
/// every hidden layer except the first adds its input. The output layer is linear only. Its tensors
/// are called `embeddings.<i>.weight` `[num_rows, size]`, `layers.<i>.weight` `[out, in]`,
/// `layers.<i>.bias` `[out]`, `norms.<i>.weight`, `norms.<i>.bias`, `norms.<i>.running_mean` and
/// `norms.<i>.running_var`. Initial weights `[out, in]` of linear layers:
///   pytorch  U(-1/sqrt(in), 1/sqrt(in)), the biases too (the default of nn.Linear)
///   kaiming  N(0, 2/in), the output layer N(0, 1/in); He and others, arXiv:1502.01852
///   xavier   U(-b, b) with b = sqrt(6/(in + out)); Glorot and Bengio, AISTATS 2010
///   gpt2     N(0, 0.02^2), in R residual layers N(0, 0.02^2/R); Radford and others, 2019
/// Other biases are 0, weights of norms 1. Embeddings are N(0, 0.1^2), with gpt2 N(0, 0.02^2);
/// their last row, for missing and unknown categories, is 0: only rows with missing cells train it.
NetworkSpec mlp(const MlpOptions& options);

}  // namespace trainer::network
