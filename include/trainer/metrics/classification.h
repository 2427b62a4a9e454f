// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/base/text/enum_names.h"
#include "trainer/metrics/score.h"

/// Metrics of classifications, and the curves that reports draw for them. Each row counts once;
/// sample weights are ignored.

namespace trainer::metrics {

/// The result of predicted_classes() for a row with a logit that is not finite.
inline constexpr int64_t kNoClass = -1;

/// Returns the predicted class of each row, `[rows]`: the class with the largest logit, the first
/// of equal ones; for two classes according to the threshold. kNoClass for a row with a logit that
/// is not finite.
std::vector<int64_t> predicted_classes(const Outputs& logits);

/// A confusion matrix. Element (t, p) is the number of rows of class t that were predicted as class
/// p.
struct ConfusionMatrix {
  int64_t num_classes = 0;
  std::vector<int64_t> counts;              // [classes, classes]
  std::vector<int64_t> without_class = {};  // [classes] rows of each class with kNoClass

  /// The number of rows of class `target` that were predicted as class `predicted`.
  int64_t at(int64_t target, int64_t predicted) const {
    return counts[static_cast<std::size_t>(target * num_classes + predicted)];
  }
};

/// Counts the pairs of `targets` and `predicted`, both `[rows]`. Rows with kNoClass count as wrong
/// predictions for their class.
ConfusionMatrix confusion_matrix(std::span<const int64_t> targets,
                                 std::span<const int64_t> predicted, int64_t num_classes);

/// The scores of one class: precision = correct / rows predicted as the class, recall = correct /
/// rows of the class, F1 = harmonic mean of both. A score with the denominator 0 is 0.
struct ClassScores {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  int64_t num_rows = 0;  // rows of the class
};

/// Returns the scores of each class, `[classes]`.
std::vector<ClassScores> class_scores(const ConfusionMatrix& confusion);

/// Returns the fraction of rows whose class was predicted; 0 without rows.
double accuracy(const ConfusionMatrix& confusion);

/// Returns the mean F1 over the classes that occur as a target or a prediction ("macro" in
/// scikit-learn).
double macro_f1(const ConfusionMatrix& confusion);

/// Returns the mean recall over the classes that have rows; 0 without rows.
double balanced_accuracy(const ConfusionMatrix& confusion);

/// Returns the mean over the rows of -log(probability of their class), the cross-entropy without
/// weights and label smoothing. Infinite if the class of a row has the probability 0.
double log_loss(const Outputs& logits, std::span<const int64_t> targets);

/// Returns the fraction of rows whose class is among the `k` largest logits; of equal logits the
/// first counts as larger. A row with a logit that is not finite counts as wrong.
double top_k_accuracy(const Outputs& logits, std::span<const int64_t> targets, int64_t k);

/// Returns the area under the ROC curve: the probability that a row of the class has a higher score
/// than a row of another class, where equal scores count half (Hanley and McNeil, Radiology 143,
/// 1982). With more than two classes, the mean over those that occur, each against the rest by
/// softmax probability. Nothing if all rows are of one class, or if a logit is not finite.
std::optional<double> auroc(const Outputs& logits, std::span<const int64_t> targets);

/// Returns the area under the precision-recall curve as average precision: the sum over the
/// different scores, from the largest down, of precision times the increase of recall. With two
/// classes, that of the second; with more, the mean over those that occur, each against the rest by
/// softmax probability. Nothing if no row is of a ranked class, or if a logit is not finite.
std::optional<double> pr_auc(const Outputs& logits, std::span<const int64_t> targets);

/// The points (x[i], y[i]) of a curve, in order.
struct Curve {
  std::vector<double> x;
  std::vector<double> y;
};

/// Returns the ROC curve of `scores` for rows that are positive (1) or not (0): false positive
/// rates and true positive rates from (0, 0) to (1, 1), with a point for each different score.
/// Empty if all rows are positive or none is. A score that is not finite counts as less than all
/// others.
Curve roc_curve(std::span<const double> scores, std::span<const uint8_t> is_positive);

/// Returns recall and precision for each different score, from the largest down. Empty without a
/// positive row.
Curve precision_recall_curve(std::span<const double> scores, std::span<const uint8_t> is_positive);

/// The rows whose predicted probability is in one bin of [0, 1].
struct ReliabilityBin {
  double mean_probability = 0;
  double frequency = 0;  // fraction of the rows for which the event happened
  int64_t num_rows = 0;
};

/// Divides [0, 1] into `num_bins` bins of equal width, and returns those that have rows. `happened`
/// is 1 if the event with this probability happened.
std::vector<ReliabilityBin> reliability(std::span<const double> probabilities,
                                        std::span<const uint8_t> happened, int64_t num_bins);

/// The scores for which a threshold can be optimized. They depend on the predicted classes only.
enum class DecisionMetric { kAccuracy, kBalancedAccuracy, kF1, kBinaryF1 };

/// A threshold and the score that it achieves.
struct ThresholdChoice {
  double threshold = 0.5;
  double value = 0;  // value of the metric
};

/// Returns the threshold for two classes with the largest value of the metric on these rows. It is
/// the middle between two probabilities that occur, or 0.5 if that is between them; of equally good
/// thresholds the one nearest to 0.5. Nothing if the rows are not of both classes, or if a logit is
/// not finite.
std::optional<ThresholdChoice> best_threshold(const Outputs& logits,
                                              std::span<const int64_t> targets,
                                              DecisionMetric metric);

}  // namespace trainer::metrics

namespace trainer {

template <>
std::span<const std::string> enum_names<metrics::DecisionMetric>();

}  // namespace trainer
