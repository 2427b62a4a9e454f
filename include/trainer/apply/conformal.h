// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "trainer/apply/model.h"

/// Intervals of numbers and sets of classes that contain the target of a new row with a chosen
/// probability, the coverage, if the row is from the same source as the rows of the run.
///
/// This is split conformal prediction (Vovk et al., "Algorithmic Learning in a Random World", 2005)
/// with rows that the model was not trained on. Of n errors of such rows, sorted, the one of rank
/// ceil(coverage * (n + 1)) is not exceeded by that of the next row with at least this probability.
/// For a number, the error is the distance from the prediction; for classes, it is 1 - p, where p
/// is the probability of the true class (Sadinle et al., JASA 114, 2019).
namespace trainer::apply {

/// Finds the intervals or sets of a model on own_validation(); in an ensemble of folds, each row
/// has the error of the member that has not seen it. Throws Error(kData) if these rows are too few,
/// and as own_validation() does.
Conformal find_intervals(const Model& model, double coverage, int64_t num_threads);

/// The lowest probability of a class in the set of a row, so that the set has at least the class
/// that is predicted. `probabilities` are those of the row.
double lowest_probability(const Conformal& conformal, std::span<const double> probabilities,
                          int64_t predicted);

}  // namespace trainer::apply
