// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/nn/cpu/network.h"
#include "trainer/nn/cpu/operands.h"
#include "trainer/nn/cpu/thread_team.h"
#include "trainer/nn/spec/layers.h"
#include "trainer/table/table.h"

namespace trainer::apply {

/// A member of a model in two parts: the encoder, which turns features into inputs (scaling,
/// embeddings of categories and of numbers), and the network from these inputs to the outputs, with
/// the gradient with respect to the inputs.
class EncodedNetwork {
 public:
  /// Allocates memory for up to `max_rows` rows. `member`, `scaling` and `team` must outlive it.
  EncodedNetwork(const Member& member, const data::Scaling& scaling, int64_t max_rows,
                 cpu::ThreadTeam& team);

  /// The number of inputs of the first linear layer, after embeddings.
  int64_t width() const { return width_; }
  /// `[width]`, the index of the feature that each input is computed from.
  std::vector<int64_t> features() const;

  /// The inputs `[n, width]` for features `[n, num_features]` that data::encode() returned.
  std::vector<float> encode(const data::Matrix& features) const;

  /// The memory of the inputs `[num_rows, width]`, num_rows <= max_rows, which the caller writes
  /// before it calls the functions below.
  std::span<float> inputs(int64_t num_rows);
  /// Computes the outputs `[num_rows, num_outputs]` of a model with this member only.
  void infer(int64_t num_rows, std::vector<float>& outputs);
  /// The gradient `[num_rows, width]` with respect to the inputs, given the gradient `factors`
  /// `[num_rows, num_outputs]` with respect to the outputs. Valid until the next call.
  std::span<const float> gradient(int64_t num_rows, std::span<const float> factors);

 private:
  std::vector<cpu::TensorMemory> tail_memory(const network::NetworkSpec& tail);
  cpu::NetworkBatch batch(int64_t num_rows) const;
  void set_output_gradient(const cpu::LossInput& input, const float* factors) const;

  const Member& member_;
  const data::Scaling& scaling_;
  cpu::ThreadTeam& team_;
  int64_t width_;
  std::vector<float> inputs_;       // [max_rows, width]
  std::vector<float> gradients_;    // [max_rows, width]
  std::vector<float> row_numbers_;  // [max_rows] 0, 1, ...
  std::vector<int64_t> rows_;       // [max_rows] 0, 1, ...
  std::optional<network::MemberMean> mean_;
  float output_scale_ = 1;
  std::unique_ptr<cpu::Network> network_;
};

}  // namespace trainer::apply
