// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "trainer/base/text/format.h"
#include "trainer/metrics/calibration.h"

namespace trainer::metrics {
namespace {

constexpr int64_t kTopK = 5;

std::vector<Score> confusion_scores(const ConfusionMatrix& confusion) {
  std::vector<Score> scores = {{"accuracy", accuracy(confusion)},
                               {"balanced_accuracy", balanced_accuracy(confusion)},
                               {"f1", macro_f1(confusion)}};
  if (confusion.num_classes == 2) scores.push_back({"binary_f1", class_scores(confusion)[1].f1});
  return scores;
}

std::vector<Score> classification_scores(const LabelledOutputs& labelled,
                                         const ConfusionMatrix& confusion, Ranking ranking) {
  std::vector<Score> scores = confusion_scores(confusion);
  const std::span<const int64_t> targets = labelled.rows.classes;
  if (confusion.num_classes > kTopK) {
    scores.push_back({"top_5_accuracy", top_k_accuracy(labelled.outputs, targets, kTopK)});
  }
  if (confusion.num_classes == 2 || ranking == Ranking::kOfAll) {
    if (const auto area = auroc(labelled.outputs, targets)) scores.push_back({"auroc", *area});
  }
  if (ranking == Ranking::kOfAll) {
    if (const auto area = pr_auc(labelled.outputs, targets)) scores.push_back({"pr_auc", *area});
  }
  scores.push_back({"log_loss", log_loss(labelled.outputs, targets)});
  if (ranking == Ranking::kOfAll) {
    scores.push_back({"brier", brier_score(labelled.outputs, targets)});
    scores.push_back({"ece", expected_calibration_error(labelled.outputs, targets)});
  }
  return scores;
}

std::vector<Score> means_over(const std::vector<TargetScores>& targets) {
  TargetScores mean;
  const auto num_targets = static_cast<double>(targets.size());
  for (const TargetScores& target : targets) {
    mean.mae += target.mae / num_targets;
    mean.rmse += target.rmse / num_targets;
    mean.mape += target.mape / num_targets;
    mean.r2 += target.r2 / num_targets;
  }
  return {{"mae", mean.mae}, {"rmse", mean.rmse}, {"mape", mean.mape}, {"r2", mean.r2}};
}

ConfusionMatrix make_confusion(const LabelledOutputs& labelled) {
  return confusion_matrix(labelled.rows.classes, predicted_classes(labelled.outputs),
                          static_cast<int64_t>(labelled.schema.labels.size()));
}

std::vector<TargetScores> score_targets(const LabelledOutputs& labelled) {
  return target_scores(data::predicted_values(labelled.schema, labelled.outputs.values),
                       data::true_values(labelled.schema, labelled.rows),
                       labelled.outputs.num_columns);
}

/// Predicts the most frequent class of the training split for every row, with the frequencies there
/// as probabilities. All scores are equal, so each curve has a single point.
Baseline class_baseline(const LabelledOutputs& labelled, const ConfusionMatrix& confusion) {
  const std::vector<double>& frequencies = labelled.schema.target_means;
  const auto most_frequent =
      std::max_element(frequencies.begin(), frequencies.end()) - frequencies.begin();
  const auto num_rows = static_cast<double>(labelled.rows.classes.size());
  ConfusionMatrix same = confusion_matrix({}, {}, confusion.num_classes);
  double log_loss = 0;
  double precision = 0;
  double num_present = 0;
  const std::vector<ClassScores> classes = class_scores(confusion);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const int64_t count = classes[i].num_rows;
    if (count == 0) continue;
    same.counts[i * classes.size() + static_cast<std::size_t>(most_frequent)] = count;
    const double share = static_cast<double>(count) / num_rows;
    log_loss -= share * std::log(frequencies[i]);
    precision = classes.size() == 2 ? share : precision + share;
    ++num_present;
  }
  std::vector<Score> scores = confusion_scores(same);
  if (num_present > 1) {
    scores.push_back({"auroc", 0.5});
    scores.push_back({"pr_auc", classes.size() == 2 ? precision : precision / num_present});
  }
  scores.push_back({"log_loss", log_loss});
  const std::string& label = labelled.schema.labels[static_cast<std::size_t>(most_frequent)];
  return {"always " + in_quotes(label), std::move(scores)};
}

Baseline target_baseline(const LabelledOutputs& labelled) {
  const std::vector<double>& means = labelled.schema.target_means;
  const std::vector<double> targets = data::true_values(labelled.schema, labelled.rows);
  std::vector<double> predictions(targets.size());
  for (std::size_t i = 0; i < predictions.size(); ++i) predictions[i] = means[i % means.size()];
  return {"always the mean",
          means_over(target_scores(predictions, targets, labelled.outputs.num_columns))};
}

bool is_classification(const LabelledOutputs& labelled) {
  return labelled.schema.task == config::Task::kClassification;
}

}  // namespace

std::vector<Score> scores(const LabelledOutputs& labelled, Ranking ranking) {
  return is_classification(labelled)
             ? classification_scores(labelled, make_confusion(labelled), ranking)
             : means_over(score_targets(labelled));
}

Report make_report(const LabelledOutputs& labelled, double loss) {
  Report report;
  report.num_rows = labelled.outputs.num_rows();
  report.loss = loss;
  const bool has_baseline = !labelled.schema.target_means.empty();
  if (is_classification(labelled)) {
    report.confusion = make_confusion(labelled);
    report.scores = classification_scores(labelled, report.confusion, Ranking::kOfAll);
    report.labels = labelled.schema.labels;
    report.classes = class_scores(report.confusion);
    if (has_baseline) report.baseline = class_baseline(labelled, report.confusion);
    return report;
  }
  std::vector<TargetScores> targets = score_targets(labelled);
  report.scores = means_over(targets);
  if (has_baseline) report.baseline = target_baseline(labelled);
  if (targets.size() == 1) return report;
  report.target_names = labelled.schema.target_names;
  report.targets = std::move(targets);
  return report;
}

}  // namespace trainer::metrics
