// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/numeric_embedding.h"

#include <cstddef>

namespace trainer::cpu {
namespace {

// Finds the part of each tensor that belongs to one feature: `size` numbers.
struct OfFeature {
  int64_t index = 0;
  std::ptrdiff_t offset = 0;  // of the gradients, from the memory of their tensors

  const float* value(const TensorMemory& tensor, int64_t size) const {
    return tensor.value + index * size;
  }
  float* update(const TensorMemory& tensor, int64_t size) const {
    return tensor.update == nullptr ? nullptr : tensor.update + index * size + offset;
  }
  FloatRange update_range(const TensorMemory& tensor, int64_t size) const {
    return {.values = update(tensor, size), .count = size};
  }
};

const float* feature_values(const NumericEmbedding& embedding, int64_t index,
                            const InputRows& inputs) {
  return inputs.values + embedding.features[static_cast<std::size_t>(index)];
}

PeriodicOperands operands(const Periodic& p, const NumericEmbedding& embedding, int64_t index,
                          const InputRows& inputs) {
  const OfFeature of{index};
  return {.num_frequencies = p.num_frequencies,
          .size = embedding.size,
          .values = feature_values(embedding, index, inputs),
          .stride = inputs.stride,
          .frequencies = of.value(p.frequencies, p.num_frequencies),
          .phases = of.value(p.phases, p.num_frequencies),
          .weight = of.value(p.weight, p.num_frequencies * embedding.size),
          .bias = of.value(p.bias, embedding.size)};
}

PiecewiseOperands operands(const Piecewise& p, const NumericEmbedding& embedding, int64_t index,
                           const InputRows& inputs) {
  const OfFeature of{index};
  return {.num_bins = p.num_bins,
          .size = embedding.size,
          .values = feature_values(embedding, index, inputs),
          .stride = inputs.stride,
          .edges = of.value(p.edges, p.num_bins + 1),
          .slope = of.value(p.slope, embedding.size),
          .weight = of.value(p.weight, p.num_bins * embedding.size),
          .bias = of.value(p.bias, embedding.size)};
}

PeriodicGradients gradients(const Periodic& p, const NumericEmbedding& embedding, int64_t index,
                            const EmbeddingGradient& gradient) {
  const OfFeature of{index, gradient.offset};
  return {.gradient = gradient.values,
          .stride = gradient.stride,
          .frequencies = of.update(p.frequencies, p.num_frequencies),
          .phases = of.update(p.phases, p.num_frequencies),
          .weight = of.update(p.weight, p.num_frequencies * embedding.size),
          .bias = of.update(p.bias, embedding.size),
          .accumulate = gradient.accumulate};
}

PiecewiseGradients gradients(const Piecewise& p, const NumericEmbedding& embedding, int64_t index,
                             const EmbeddingGradient& gradient) {
  const OfFeature of{index, gradient.offset};
  return {.gradient = gradient.values,
          .stride = gradient.stride,
          .slope = of.update(p.slope, embedding.size),
          .weight = of.update(p.weight, p.num_bins * embedding.size),
          .bias = of.update(p.bias, embedding.size),
          .accumulate = gradient.accumulate};
}

}  // namespace

bool NumericEmbedding::is_trained() const {
  const auto any = [](auto... tensors) { return ((tensors.update != nullptr) || ...); };
  if (const auto* p = std::get_if<Periodic>(&kind)) {
    return any(p->frequencies, p->phases, p->weight, p->bias);
  }
  const auto& p = std::get<Piecewise>(kind);
  return any(p.slope, p.weight, p.bias);
}

void embed(const Kernels& kernels, const NumericEmbedding& embedding, int64_t index,
           const InputRows& inputs, float* out) {
  if (const auto* p = std::get_if<Periodic>(&embedding.kind)) {
    kernels.periodic_embedding(inputs.num_rows, operands(*p, embedding, index, inputs), out);
  } else {
    kernels.piecewise_embedding(
        inputs.num_rows, operands(std::get<Piecewise>(embedding.kind), embedding, index, inputs),
        out);
  }
}

std::array<FloatRange, 4> gradient_memory(const NumericEmbedding& embedding, int64_t index) {
  const OfFeature of{index};
  const int64_t size = embedding.size;
  if (const auto* p = std::get_if<Periodic>(&embedding.kind)) {
    return {of.update_range(p->frequencies, p->num_frequencies),
            of.update_range(p->phases, p->num_frequencies),
            of.update_range(p->weight, p->num_frequencies * size), of.update_range(p->bias, size)};
  }
  const auto& p = std::get<Piecewise>(embedding.kind);
  return {of.update_range(p.slope, size), of.update_range(p.weight, p.num_bins * size),
          of.update_range(p.bias, size), FloatRange{}};
}

void embedding_gradient(const Kernels& kernels, const NumericEmbedding& embedding, int64_t index,
                        const InputRows& inputs, const EmbeddingGradient& gradient) {
  if (const auto* p = std::get_if<Periodic>(&embedding.kind)) {
    kernels.periodic_embedding_gradient(inputs.num_rows, operands(*p, embedding, index, inputs),
                                        gradients(*p, embedding, index, gradient));
  } else {
    const auto& piecewise = std::get<Piecewise>(embedding.kind);
    kernels.piecewise_embedding_gradient(inputs.num_rows,
                                         operands(piecewise, embedding, index, inputs),
                                         gradients(piecewise, embedding, index, gradient));
  }
}

}  // namespace trainer::cpu
