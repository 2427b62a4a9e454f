// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/cpu/network.h"
#include "trainer/cpu/operands.h"
#include "trainer/cpu/thread_team.h"
#include "trainer/data/table.h"
#include "trainer/network/layers.h"

namespace trainer::apply {

/// A member of a model in two parts: what makes numbers of features (scaling, embeddings of
/// categories and of numbers), and the network from these inputs to the outputs, with its gradient.
class EncodedNetwork {
 public:
  /// For up to `max_rows` rows. `member`, `scaling` and `team` must outlive it.
  EncodedNetwork(const Member& member, const data::Scaling& scaling, int64_t max_rows,
                 cpu::ThreadTeam& team);

  /// The number of inputs.
  int64_t width() const { return width_; }
  /// `[width]` the feature that each input is made of.
  std::vector<int64_t> features() const;

  /// The inputs `[n, width]` for features `[n, num_features]` as data::encode makes them.
  std::vector<float> encode(const data::Matrix& features) const;

  /// The inputs `[n, width]`, n <= max_rows, for the functions below: the caller writes them.
  std::span<float> inputs(int64_t num_rows);
  /// The outputs `[num_rows, num_outputs]` of the model, were this its only member.
  void infer(int64_t num_rows, std::vector<float>& outputs);
  /// The gradient `[num_rows, width]`, with respect to the inputs, of the sum of those outputs,
  /// each times its number in `factors` `[num_rows, num_outputs]`. Valid until the next call.
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
