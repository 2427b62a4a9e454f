// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/nn/spec/tensor_spec.h"

/// The kinds of layers. Each maps `[batch, inputs]` to `[batch, outputs]`. A kind is implemented
/// once with LibTorch's operations (src/torch/model/forward.cpp; autograd derives its gradient),
/// once with the CPU kernels (src/nn/cpu/blocks.cpp) and once in each export
/// (src/onnx_export/network.cpp, src/train/engine/torchscript.cpp); its tensors are listed
/// in src/nn/spec/spec.cpp.
///
/// A network may have several members (TabM-mini; Gorishniy and others, arXiv:2410.24210), which
/// share all hidden layers and differ in the input scale and the output layer. Then the input scale
/// makes a row for each member, next to each other: row r belongs to sample r / members and member
/// r mod members. In inference, MemberMean combines these rows into one.
///
/// Constants of layers are equal to the defaults of PyTorch; all implementations use them.

namespace trainer::network {

/// A learned embedding table `[num_rows, size]`. The value of its feature is a row index.
struct EmbeddingTable {
  std::string name;
  int64_t num_rows = 0;
  int64_t size = 0;
  Initializer weight;
};

/// Replaces the last features, which are row indices, by rows of the tables, one table each.
struct Embeddings {
  int64_t num_numeric = 0;  // number of features before the indices; they are kept
  std::vector<EmbeddingTable> tables;
};

/// Appends to the input, for each of its columns `features`, the `size` numbers
///   cos(2 pi x w + p) V + b
/// with `num_frequencies` learned w `[features, frequencies]` and p, V `[features, frequencies,
/// size]` and b `[features, size]`: PBLD of Holzmueller and others, arXiv:2407.04491.
struct PeriodicEmbedding {
  std::string name;
  std::vector<int64_t> features;
  int64_t num_frequencies = 0;
  int64_t size = 0;
  Initializer frequencies;
};

/// Appends to the input, for each of its columns `features`, the `size` numbers
///   x w + b + sum over bins t of e_t V_t
/// with learned w, b `[features, size]` and V `[features, bins, size]`, where e_t is the part of
/// bin t that is below x: (x - edge_t) / (edge_t+1 - edge_t) within [0, 1]; in the first bin it may
/// be below 0, in the last one above 1. The `bins` + 1 edges of each feature are quantiles of
/// training rows; if fewer of them differ, the last bins have width 0 and e_t = 0. Gorishniy and
/// others, arXiv:2203.05556, as version B of their package rtdl_num_embeddings.
struct PiecewiseEmbedding {
  std::string name;
  std::vector<int64_t> features;
  int64_t num_bins = 0;
  int64_t size = 0;
};

/// Multiplies each column by a learned number, `[size]`; with several members, repeats each row for
/// all of them and multiplies it by the numbers of each, `[num_members, size]`.
struct InputScale {
  std::string name;
  int64_t size = 0;
  int64_t num_members = 1;
  Initializer weight;
};

/// x W^T + b with W `[num_outputs, num_inputs]`; with several members each has its own W and b,
/// `[num_members, num_outputs, num_inputs]` and `[num_members, num_outputs]`.
struct Linear {
  std::string name;
  int64_t num_inputs = 0;
  int64_t num_outputs = 0;
  Initializer weight;
  Initializer bias;
  UpdateFactors weight_factors = {};
  int64_t num_members = 1;
};

/// Normalizes over the rows of a batch; Ioffe and Szegedy, arXiv:1502.03167.
struct BatchNorm {
  std::string name;
  int64_t size = 0;
};

/// Normalizes over the values of a row; Ba, Kiros and Hinton, arXiv:1607.06450.
struct LayerNorm {
  std::string name;
  int64_t size = 0;
};

/// Applies an activation function f to each element. With a name it is parametric, and computes
/// x + (f(x) - x) a with a learned number a for each column.
struct Activation {
  config::Activation function = config::Activation::kRelu;
  std::string name = {};
  int64_t size = 0;

  bool is_parametric() const { return !name.empty(); }
};

/// In training, sets values to zero with this probability, and scales all others by 1 / (1 -
/// probability).
struct Dropout {
  double probability = 0;
  uint32_t stream = 0;  // number of the random stream, different for each layer
};

/// Passes its input on unchanged, and remembers it for the matching ResidualEnd.
struct ResidualBegin {};

/// Adds the input of the last ResidualBegin to its own input.
struct ResidualEnd {};

/// Whether predictions are averaged over members as numbers or as probabilities of classes.
enum class Mean { kOfNumbers, kOfProbabilities };

/// Returns the kind of mean for a task: numbers for regression, probabilities for classification.
inline Mean mean_for(config::Task task) {
  return task == config::Task::kRegression ? Mean::kOfNumbers : Mean::kOfProbabilities;
}

/// In training, passes its input on unchanged, because each member has its own loss. In inference,
/// averages the predictions of the members, and returns the outputs of one network that would
/// predict these averages: means of numbers; or logarithms of mean probabilities, or the logit of
/// the mean probability if there is one output. The logarithms and the logit are multiplied by a
/// factor `[1]`, which is 1 until calibration divides it by a temperature.
struct MemberMean {
  std::string name;
  int64_t num_members = 1;
  int64_t num_outputs = 0;
  Mean mean = Mean::kOfNumbers;
};

using Layer =
    std::variant<Embeddings, PeriodicEmbedding, PiecewiseEmbedding, InputScale, Linear, BatchNorm,
                 LayerNorm, Activation, Dropout, ResidualBegin, ResidualEnd, MemberMean>;

inline constexpr double kNormEpsilon = 1e-5;  // `eps` of nn.BatchNorm1d and nn.LayerNorm
/// Weight of a new batch in the running statistics.
inline constexpr double kBatchNormMomentum = 0.1;

}  // namespace trainer::network
