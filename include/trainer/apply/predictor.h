// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/nn/cpu/network.h"
#include "trainer/nn/cpu/thread_team.h"
#include "trainer/table/table.h"

namespace trainer::apply {

/// Computes outputs of a trained model on the CPU, in its `precision`. The bits of a row's outputs
/// depend neither on the number of threads nor on the other rows of a batch, and equal those of the
/// fused kernels in evaluations during training. The outputs of an ensemble are those of one
/// network with the averaged predictions: the logarithms of the mean probabilities, the logit of
/// the mean probability if there is a single logit, or the mean of numbers, each within the limits
/// of the schema.
class Predictor {
 public:
  /// Makes a network with `num_threads` threads for each member. `model` must outlive the
  /// predictor.
  Predictor(const Model& model, int64_t num_threads);

  /// Computes the outputs `[n, num_outputs]`, logits of classes or scaled targets, for unscaled
  /// features `[n, num_features]` that data::encode() returned. With `fold_of_row` `[n]`, each
  /// row is predicted by the members of that fold alone (member_folds()).
  void predict(const data::Matrix& features, std::vector<float>& outputs,
               std::span<const int32_t> fold_of_row = {});

 private:
  const Model& model_;
  cpu::ThreadTeam team_;
  std::vector<std::unique_ptr<cpu::Network>> networks_;  // [members]
  std::vector<float> member_outputs_;                    // [members, rows of a batch, num_outputs]
  std::vector<int64_t> rows_;

  void predict_fold(const data::Matrix& features, std::span<const int32_t> fold_of_row,
                    int32_t fold, std::span<const std::size_t> members, std::span<float> outputs);
  void run_members(std::span<const std::size_t> members, const cpu::NetworkBatch& batch,
                   std::span<float> outputs);
  void run(cpu::Network& network, const cpu::NetworkBatch& batch, float* outputs);
};

// Predictions from outputs `[n, num_outputs]`.

/// The probabilities `[n, num_classes]`: the softmax of the logits, or the sigmoid of a single
/// logit as the probability of the second of two classes.
std::vector<float> probabilities(const Model& model, std::span<const float> outputs);

/// The predictions `[n, num_targets]` of a regression in the units of the file, see
/// data::predicted_values().
std::vector<double> predicted_values(const Model& model, std::span<const float> outputs);

}  // namespace trainer::apply
