// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Weights for the configurations of an ensemble, chosen by their predictions for rows that they
/// were not trained on.

namespace trainer::experiments {

/// The rows whose targets are known, and what each configuration predicts for them.
struct CandidatePool {
  bool has_classes = false;
  int64_t num_columns = 1;     // targets; 1 for classes
  std::vector<double> values;  // [rows, targets] the true classes, or numbers in deviations
  std::vector<int32_t> folds;  // [rows]
  /// [configurations][rows, columns] the probability of the true class, or the numbers, in
  /// deviations of the targets.
  std::vector<std::vector<float>> predictions;
};

/// The log loss, or root mean square error, of the weighted mean of the predictions for all rows.
double pool_loss(const CandidatePool& pool, std::span<const double> weights);

/// What was chosen, and how good it is.
struct ChosenWeights {
  std::vector<double> weights;  // [configurations], of sum 1
  double loss = 0;              // of all rows, by which they were chosen
  double expected_loss = 0;     // of the rows of each fold, with the weights that the others choose
};

/// Chooses weights by greedy selection with replacement (Caruana and others, "Ensemble selection
/// from libraries of models", 2004), by the mean of these and equal weights of the better half, or
/// all weight for the best one: by whichever is best for the rows of each fold if the other folds
/// choose, which few rows cannot overfit. A configuration with less than 2 % is left out.
ChosenWeights choose_weights(const CandidatePool& pool);

/// What choose_weights() chooses among the `count` configurations that it gives most weight.
ChosenWeights choose_few_weights(const CandidatePool& pool, std::size_t count);

}  // namespace trainer::experiments
