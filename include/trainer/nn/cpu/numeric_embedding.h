// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/operands.h"

namespace trainer::cpu {

/// The tensors of a network::PeriodicEmbedding, each for all features of the embedding.
struct Periodic {
  int64_t num_frequencies = 0;
  TensorMemory frequencies;
  TensorMemory phases;
  TensorMemory weight;
  TensorMemory bias;
};

/// The tensors of a network::PiecewiseEmbedding, each for all features of the embedding.
struct Piecewise {
  int64_t num_bins = 0;
  TensorMemory edges;
  TensorMemory slope;
  TensorMemory weight;
  TensorMemory bias;
};

/// A layer that embeds each of some numeric features in `size` numbers.
struct NumericEmbedding {
  std::vector<int64_t> features;
  int64_t size = 0;
  std::variant<Periodic, Piecewise> kind;

  int64_t num_features() const { return std::ssize(features); }
  /// Whether any of its parameters gets a gradient.
  bool is_trained() const;
};

/// Rows of input features, `stride` floats apart, which contain the features of the embedding.
struct InputRows {
  const float* values = nullptr;
  int64_t stride = 0;
  int64_t num_rows = 0;
};

/// Writes the embedding `[num_rows, size]` of the feature `embedding.features[index]` to `out`,
/// whose rows are `inputs.stride` floats apart.
void embed(const Kernels& kernels, const NumericEmbedding& embedding, int64_t index,
           const InputRows& inputs, float* out);

/// The gradient `[num_rows, size]` with respect to an embedding. The gradients of the parameters
/// are written `offset` floats after the memory of their tensors' `update`.
struct EmbeddingGradient {
  const float* values = nullptr;
  int64_t stride = 0;
  std::ptrdiff_t offset = 0;
  Accumulate accumulate = Accumulate::kNo;
};

/// `count` floats at `values`; a null pointer means that there are none.
struct FloatRange {
  float* values = nullptr;
  int64_t count = 0;
};

/// The memory of all gradients that embedding_gradient() writes with offset 0, at most four
/// tensors.
std::array<FloatRange, 4> gradient_memory(const NumericEmbedding& embedding, int64_t index);

/// Writes the gradients of the parameters of the feature `embedding.features[index]`.
void embedding_gradient(const Kernels& kernels, const NumericEmbedding& embedding, int64_t index,
                        const InputRows& inputs, const EmbeddingGradient& gradient);

}  // namespace trainer::cpu
