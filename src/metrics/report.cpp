// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "trainer/core/format.h"

namespace trainer::metrics {
namespace {

constexpr int64_t kTopK = 5;

std::vector<Score> scores_of_confusion(const ConfusionMatrix& confusion) {
  std::vector<Score> scores = {{"accuracy", accuracy(confusion)},
                               {"balanced_accuracy", balanced_accuracy(confusion)},
                               {"f1", macro_f1(confusion)}};
  if (confusion.num_classes == 2) scores.push_back({"binary_f1", class_scores(confusion)[1].f1});
  return scores;
}

std::vector<Score> scores_of_classes(const Judged& judged, const ConfusionMatrix& confusion,
                                     Ranking ranking) {
  std::vector<Score> scores = scores_of_confusion(confusion);
  const std::vector<int64_t>& targets = judged.rows.classes;
  if (confusion.num_classes > kTopK) {
    scores.push_back({"top_5_accuracy", top_k_accuracy(judged.outputs, targets, kTopK)});
  }
  if (confusion.num_classes == 2 || ranking == Ranking::kOfAll) {
    if (const auto area = auroc(judged.outputs, targets)) scores.push_back({"auroc", *area});
  }
  if (ranking == Ranking::kOfAll) {
    if (const auto area = pr_auc(judged.outputs, targets)) scores.push_back({"pr_auc", *area});
  }
  scores.push_back({"log_loss", log_loss(judged.outputs, targets)});
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

ConfusionMatrix confusion_of(const Judged& judged) {
  return confusion_matrix(judged.rows.classes, predicted_classes(judged.outputs),
                          static_cast<int64_t>(judged.schema.labels.size()));
}

std::vector<TargetScores> targets_of(const Judged& judged) {
  const data::Scaling& scaling = judged.schema.target_scaling;
  return target_scores(data::unscaled(scaling, judged.outputs.values),
                       data::unscaled(scaling, judged.rows.values), judged.outputs.num_columns);
}

/// Every row is taken for the most frequent class of the training split, with the probabilities
/// that the classes have there. A curve is then one point.
Baseline baseline_of_classes(const Judged& judged, const ConfusionMatrix& confusion) {
  const std::vector<double>& frequencies = judged.schema.target_means;
  const auto most = std::max_element(frequencies.begin(), frequencies.end()) - frequencies.begin();
  const auto num_rows = static_cast<double>(judged.rows.classes.size());
  ConfusionMatrix same = confusion_matrix({}, {}, confusion.num_classes);
  double log_loss = 0;
  double precision = 0;
  double num_present = 0;
  const std::vector<ClassScores> classes = class_scores(confusion);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const int64_t count = classes[i].num_rows;
    if (count == 0) continue;
    same.counts[i * classes.size() + static_cast<std::size_t>(most)] = count;
    const double share = static_cast<double>(count) / num_rows;
    log_loss -= share * std::log(frequencies[i]);
    precision = classes.size() == 2 ? share : precision + share;
    ++num_present;
  }
  std::vector<Score> scores = scores_of_confusion(same);
  if (num_present > 1) {
    scores.push_back({"auroc", 0.5});
    scores.push_back({"pr_auc", classes.size() == 2 ? precision : precision / num_present});
  }
  scores.push_back({"log_loss", log_loss});
  const std::string& label = judged.schema.labels[static_cast<std::size_t>(most)];
  return {"always " + in_quotes(label), std::move(scores)};
}

Baseline baseline_of_targets(const Judged& judged) {
  const std::vector<double>& means = judged.schema.target_means;
  const std::vector<double> targets =
      data::unscaled(judged.schema.target_scaling, judged.rows.values);
  std::vector<double> predictions(targets.size());
  for (std::size_t i = 0; i < predictions.size(); ++i) predictions[i] = means[i % means.size()];
  return {"always the mean",
          means_over(target_scores(predictions, targets, judged.outputs.num_columns))};
}

bool is_classification(const Judged& judged) {
  return judged.schema.task == config::Task::kClassification;
}

}  // namespace

std::vector<Score> scores(const Judged& judged, Ranking ranking) {
  return is_classification(judged) ? scores_of_classes(judged, confusion_of(judged), ranking)
                                   : means_over(targets_of(judged));
}

Report make_report(const Judged& judged, double loss) {
  Report report;
  report.num_rows = judged.outputs.num_rows();
  report.loss = loss;
  const bool has_baseline = !judged.schema.target_means.empty();
  if (is_classification(judged)) {
    report.confusion = confusion_of(judged);
    report.scores = scores_of_classes(judged, report.confusion, Ranking::kOfAll);
    report.labels = judged.schema.labels;
    report.classes = class_scores(report.confusion);
    if (has_baseline) report.baseline = baseline_of_classes(judged, report.confusion);
    return report;
  }
  std::vector<TargetScores> targets = targets_of(judged);
  report.scores = means_over(targets);
  if (has_baseline) report.baseline = baseline_of_targets(judged);
  if (targets.size() == 1) return report;
  report.target_names = judged.schema.target_names;
  report.targets = std::move(targets);
  return report;
}

}  // namespace trainer::metrics
