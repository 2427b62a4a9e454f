// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/cpu/network.h"
#include "trainer/cpu/thread_team.h"
#include "trainer/data/table.h"

namespace trainer::apply {

/// Computes outputs of a trained model on the CPU, in its `precision`. The bits of a row's outputs
/// depend neither on the number of threads nor on the rows that are computed with it, and are those
/// that training evaluates with its kernels. The outputs of an ensemble are what one network would
/// have whose predictions are the averaged ones: the logarithms of the mean probabilities, their
/// logit where there is a single one, or the mean of numbers, each within the limits of the schema.
class Predictor {
 public:
  /// `model` must outlive the predictor.
  Predictor(const Model& model, int64_t num_threads);

  /// The outputs `[n, num_outputs]` of features `[n, num_features]` as data::encode makes them, not
  /// scaled: logits of classes, or scaled targets.
  void predict(const data::Matrix& features, std::vector<float>& outputs);

 private:
  const Model& model_;
  cpu::ThreadTeam team_;
  std::vector<std::unique_ptr<cpu::Network>> networks_;  // of the members
  std::vector<float> member_outputs_;                    // [members, rows, num_outputs] of a part
  std::vector<int64_t> rows_;

  void run(cpu::Network& network, const cpu::NetworkBatch& batch, float* outputs);
};

// What outputs `[n, num_outputs]` mean.

/// `[n, num_classes]` the softmax of the logits; of a single logit its sigmoid, for the second
/// class.
std::vector<float> probabilities(const Model& model, std::span<const float> outputs);

/// `[n, num_targets]` in the units of the file, see data::predicted_values().
std::vector<double> predicted_values(const Model& model, std::span<const float> outputs);

}  // namespace trainer::apply
