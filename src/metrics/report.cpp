// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/report.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace trainer::metrics {
namespace {

constexpr int64_t kTopK = 5;

std::vector<Score> scores_of_classes(const Judged& judged, const ConfusionMatrix& confusion,
                                     Ranking ranking) {
  std::vector<Score> scores = {{"accuracy", accuracy(confusion)}, {"f1", macro_f1(confusion)}};
  const std::vector<int64_t>& targets = judged.rows.classes;
  if (confusion.num_classes > kTopK) {
    scores.push_back({"top_5_accuracy", top_k_accuracy(judged.outputs, targets, kTopK)});
  }
  if (confusion.num_classes == 2 || ranking == Ranking::kOfAll) {
    if (const auto area = auroc(judged.outputs, targets)) scores.push_back({"auroc", *area});
  }
  return scores;
}

std::vector<Score> means_over(const std::vector<TargetScores>& targets) {
  TargetScores mean;
  const auto num_targets = static_cast<double>(targets.size());
  for (const TargetScores& target : targets) {
    mean.mae += target.mae / num_targets;
    mean.rmse += target.rmse / num_targets;
    mean.r2 += target.r2 / num_targets;
  }
  return {{"mae", mean.mae}, {"rmse", mean.rmse}, {"r2", mean.r2}};
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

bool is_classification(const Judged& judged) {
  return judged.schema.task == config::Task::kClassification;
}

}  // namespace

std::vector<Score> scores(const Judged& judged, Ranking ranking) {
  return is_classification(judged) ? scores_of_classes(judged, confusion_of(judged), ranking)
                                   : means_over(targets_of(judged));
}

std::optional<double> find_score(const std::vector<Score>& scores, const std::string& name) {
  for (const Score& score : scores) {
    if (score.name == name) return score.value;
  }
  return std::nullopt;
}

Report make_report(const Judged& judged, double loss) {
  Report report;
  report.num_rows = judged.outputs.num_rows();
  report.loss = loss;
  if (is_classification(judged)) {
    report.confusion = confusion_of(judged);
    report.scores = scores_of_classes(judged, report.confusion, Ranking::kOfAll);
    report.labels = judged.schema.labels;
    report.classes = class_scores(report.confusion);
    return report;
  }
  std::vector<TargetScores> targets = targets_of(judged);
  report.scores = means_over(targets);
  if (targets.size() == 1) return report;
  report.target_names = judged.schema.target_names;
  report.targets = std::move(targets);
  return report;
}

}  // namespace trainer::metrics
