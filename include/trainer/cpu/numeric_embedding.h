// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "trainer/cpu/kernels.h"
#include "trainer/cpu/operands.h"

namespace trainer::cpu {

/// The tensors of a network::PeriodicEmbedding.
struct Periodic {
  int64_t num_frequencies = 0;
  TensorMemory frequencies;
  TensorMemory phases;
  TensorMemory weight;
  TensorMemory bias;
};

/// The tensors of a network::PiecewiseEmbedding.
struct Piecewise {
  int64_t num_bins = 0;
  TensorMemory edges;
  TensorMemory slope;
  TensorMemory weight;
  TensorMemory bias;
};

/// The embedding of some numeric features.
struct NumericEmbedding {
  std::vector<int64_t> features;
  int64_t size = 0;
  std::variant<Periodic, Piecewise> kind;

  int64_t num_features() const { return std::ssize(features); }
  /// Whether any of its parameters gets a gradient.
  bool is_trained() const;
};

/// Rows of inputs, of which the embedding reads its features.
struct InputRows {
  const float* values = nullptr;
  int64_t stride = 0;
  int64_t num_rows = 0;
};

/// Writes the embedding `[num_rows, size]` of the feature with this index in `features` to `out`,
/// which has the stride of the inputs.
void embed(const Kernels& kernels, const NumericEmbedding& embedding, int64_t index,
           const InputRows& inputs, float* out);

/// The gradient of the embedding `[num_rows, size]`, and where those of the parameters go: so many
/// floats from their own memory.
struct EmbeddingGradient {
  const float* values = nullptr;
  int64_t stride = 0;
  std::ptrdiff_t offset = 0;
  Accumulate accumulate = Accumulate::kNo;
};

/// Floats in memory; null: nothing.
struct FloatRange {
  float* values = nullptr;
  int64_t count = 0;
};

/// The memory of all gradients that embedding_gradient() writes.
std::array<FloatRange, 4> gradient_memory(const NumericEmbedding& embedding, int64_t index);

/// Writes the gradients of the parameters that belong to the feature.
void embedding_gradient(const Kernels& kernels, const NumericEmbedding& embedding, int64_t index,
                        const InputRows& inputs, const EmbeddingGradient& gradient);

}  // namespace trainer::cpu
