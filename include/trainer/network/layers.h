// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "trainer/config/types.h"

/// The kinds of layers. Each maps `[batch, inputs]` to `[batch, outputs]`. A kind is implemented
/// once with LibTorch's operations (src/model/forward.cpp; autograd derives its gradient), once
/// with the CPU kernels (src/cpu/blocks.cpp) and once in each export (src/onnx_export/network.cpp,
/// src/engine/torchscript_source.cpp); its tensors are listed in src/network/spec.cpp.
namespace trainer::network {

/// The initial values of a tensor.
struct Initializer {
  enum class Kind { kConstant, kUniform, kNormal };

  Kind kind = Kind::kConstant;
  double value = 0;            // the constant, b of U(-b, b), or d of N(0, d^2)
  bool last_row_zero = false;  // whatever the kind
};

/// A learned table `[num_rows, size]`. The value of its feature is a row index.
struct EmbeddingTable {
  std::string name;
  int64_t num_rows = 0;
  int64_t size = 0;
  Initializer weight;
};

/// Replaces the last features, which are row indices, by rows of the tables, one table each.
struct Embeddings {
  int64_t num_numeric = 0;  // features before the indices, which are kept
  std::vector<EmbeddingTable> tables;
};

/// x W^T + b with W `[num_outputs, num_inputs]`.
struct Linear {
  std::string name;
  int64_t num_inputs = 0;
  int64_t num_outputs = 0;
  Initializer weight;
  Initializer bias;
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

/// An activation function, element by element.
struct Activation {
  config::Activation function = config::Activation::kRelu;
};

/// In training, sets values to zero with that probability, and scales others by 1 / (1 -
/// probability).
struct Dropout {
  double probability = 0;
  uint32_t stream = 0;  // of random numbers, different for each layer
};

/// Keeps its input.
struct ResidualBegin {};

/// Adds what the last ResidualBegin kept to its input.
struct ResidualEnd {};

using Layer = std::variant<Embeddings, Linear, BatchNorm, LayerNorm, Activation, Dropout,
                           ResidualBegin, ResidualEnd>;

}  // namespace trainer::network
