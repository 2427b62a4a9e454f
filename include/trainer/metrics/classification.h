// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/metrics/outputs.h"

/// How well a model does, from its outputs. Each row counts once, whatever its weight.
namespace trainer::metrics {

/// What predicted_classes() gives for a row without a predicted class.
inline constexpr int64_t kNoClass = -1;

/// The class with the largest logit, the first of equals: `[rows]`; of two classes by the
/// threshold. kNoClass for a row with a logit that is not finite.
std::vector<int64_t> predicted_classes(const Outputs& logits);

/// Element (t, p) is the number of rows of class t that were predicted as class p.
struct ConfusionMatrix {
  int64_t num_classes = 0;
  std::vector<int64_t> counts;              // [classes, classes]
  std::vector<int64_t> without_class = {};  // [classes] rows of each class with kNoClass

  /// The number of rows of class `target` that were predicted as class `predicted`.
  int64_t at(int64_t target, int64_t predicted) const {
    return counts[static_cast<std::size_t>(target * num_classes + predicted)];
  }
};

/// Counts the pairs of `targets` and `predicted`, both [rows]. Rows with kNoClass count as rows of
/// their class that were not recognized.
ConfusionMatrix confusion_matrix(std::span<const int64_t> targets,
                                 std::span<const int64_t> predicted, int64_t num_classes);

/// Of one class: precision = right / predicted as it, recall = right / rows of it, F1 = their
/// harmonic mean; 0 where the denominator is.
struct ClassScores {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  int64_t num_rows = 0;  // of the class
};

/// The scores of every class: [classes].
std::vector<ClassScores> class_scores(const ConfusionMatrix& confusion);

/// The part of the rows whose class was predicted; 0 without any row.
double accuracy(const ConfusionMatrix& confusion);

/// The mean F1 over the classes that occur, as a target or a prediction ("macro" in scikit-learn).
double macro_f1(const ConfusionMatrix& confusion);

/// The mean recall over the classes that have rows; 0 without any row.
double balanced_accuracy(const ConfusionMatrix& confusion);

/// The mean over the rows of -log(probability of their class): what cross-entropy without weights
/// and without label smoothing is. Infinite for a row whose class has the probability 0.
double log_loss(const Outputs& logits, std::span<const int64_t> targets);

/// The part of the rows whose class is among the `k` largest logits; of equal logits the first
/// counts as larger. A row with a logit that is not finite counts as wrong.
double top_k_accuracy(const Outputs& logits, std::span<const int64_t> targets, int64_t k);

/// The probability that a row of the class has a higher score than one that is not of it, equal
/// scores counting half: the area under the ROC curve (Hanley and McNeil, Radiology 143, 1982).
/// With more than two classes the mean over those that occur, each against the rest by softmax
/// probability. Nothing when all rows are of one class, or when a logit is not finite.
std::optional<double> auroc(const Outputs& logits, std::span<const int64_t> targets);

/// The area under the curve of precision and recall as average precision: the sum over the
/// different scores, from the largest down, of precision times what recall gained. Of the second of
/// two classes; with more, the mean over those that occur, each against the rest by softmax
/// probability. Nothing when no row is of a class that is ranked, or when a logit is not finite.
std::optional<double> pr_auc(const Outputs& logits, std::span<const int64_t> targets);

}  // namespace trainer::metrics
