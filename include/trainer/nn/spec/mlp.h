// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/nn/spec/layers.h"
#include "trainer/nn/spec/spec.h"

namespace trainer::network {

/// The number of rows of an embedding table, and the length of a row.
struct TableSize {
  int64_t num_rows = 0;
  int64_t size = 0;
};

/// The structure of a multilayer perceptron and its initialization.
struct MlpOptions {
  int64_t num_features = 0;
  int64_t num_outputs = 0;
  std::vector<int64_t> hidden_sizes = {};
  config::Activation activation = config::Activation::kRelu;
  double dropout = 0;  // probability, [0, 1)
  config::Norm norm = config::Norm::kNone;
  bool residual = false;                   // requires equal hidden sizes
  std::vector<TableSize> embeddings = {};  // one table for each of the last features
  config::Init init = config::Init::kPytorch;
  bool zero_output = false;  // weights and biases of the output layer are initialized to 0
  config::Parametrization parametrization = config::Parametrization::kStandard;
  bool parametric_activation = false;
  bool input_scale = false;
  int64_t num_members = 1;
  Mean mean = Mean::kOfNumbers;  // how several members are averaged
  /// Group of each feature; empty: each feature is its own group.
  std::vector<int64_t> feature_groups = {};
  config::NumericEmbedding numeric_embedding = config::NumericEmbedding::kNone;
  std::vector<int64_t> embedded_features = {};  // indices of the numeric features
  int64_t num_frequencies = 16;
  int64_t num_bins = 48;
  int64_t embedding_size = 3;  // length of the embedding of a number
  double frequency_deviation = 0.1;
};

/// A multilayer perceptron. Each hidden layer is linear, norm, activation, dropout; with residuals
/// every hidden layer except the first adds its input. The output layer is linear only. Before the
/// first hidden layer come the embeddings of categories and of numbers, then the input scale. Its
/// tensors are called `embeddings.<i>.weight` `[num_rows, size]`, `layers.<i>.weight` `[out, in]`,
/// `layers.<i>.bias` `[out]`, `norms.<i>.weight`, `norms.<i>.bias`, `norms.<i>.running_mean` and
/// `norms.<i>.running_var`, `activations.<i>.weight`, `input_scale.weight`,
/// `numeric_embeddings.frequencies`, `.phases`, `.weight` and `.bias`, or `.slope`, `.weight`,
/// `.bias` and `.edges`, and `member_mean.scale`.
/// Several members have input scales, which are initialized to a random number for each member and
/// group of features: +1 or -1, or N(0, 1) if numbers are embedded. Initial weights `[out, in]` of
/// linear layers:
///   pytorch  U(-1/sqrt(in), 1/sqrt(in)), the biases too (the default of nn.Linear)
///   kaiming  N(0, 2/in), the output layer N(0, 1/in); He and others, arXiv:1502.01852
///   xavier   U(-b, b) with b = sqrt(6/(in + out)); Glorot and Bengio, AISTATS 2010
///   gpt2     N(0, 0.02^2), in R residual layers N(0, 0.02^2/R); Radford and others, 2019
///   ntk      N(0, 1/in), the biases N(0, 1)
///   data     N(0, 1/in), then scaled so that the outputs of each neuron have the standard
///            deviation 1 over training rows; a bias is minus the output of a random convex
///            combination of five rows. Holzmueller and others, arXiv:2407.04491
///   ridge    as data; weights and bias of the output layer by ridge regression of the targets of
///            training rows (torch/model/ridge.h)
/// All other biases are 0, weights of norms 1. Embeddings are N(0, 0.1^2), with gpt2 N(0, 0.02^2);
/// their last row, for missing and unknown categories, is 0, because only rows with missing cells
/// train it.
/// With the parametrization `ntk`, weights are updated as if they were stored as sqrt(in) W: the
/// learning rate is divided by sqrt(in), the epsilon of Adam is multiplied by it, and weight decay
/// has the same effect as with the standard parametrization.
NetworkSpec mlp(const MlpOptions& options);

/// The bins of a piecewise-linear embedding in the form that exports use. The part of a bin that is
/// below x is (x - left) * inverse_width, clipped to [low, high]; all are `[features, bins]`. For a
/// bin of width 0 the part is 0.
struct Bins {
  std::vector<float> left;
  std::vector<float> inverse_width;
  std::vector<float> low;
  std::vector<float> high;
};

/// Computes the bins from `edges` `[features, bins + 1]`, which ascend for each feature.
Bins make_bins(const PiecewiseEmbedding& embedding, std::span<const float> edges);

}  // namespace trainer::network
