// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/text_table.h"
#include "trainer/metrics/calibration.h"
#include "trainer/metrics/score.h"

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

namespace {

constexpr std::size_t kLabelWidth = 24;
constexpr std::size_t kPageWidth = 80;
constexpr std::size_t kMaxClasses = 30;  // the most classes in the text; the JSON has all
constexpr std::size_t kMaxPairs = 10;

TableColumn label_column(std::string key, std::string title) {
  return {.key = std::move(key),
          .title = std::move(title),
          .align = Align::kLeft,
          .max_width = kLabelWidth};
}

void add_classes(const Report& report, Document& document) {
  Table& table = document.table("classes", {label_column("label", "class"),
                                            {"precision", "precision"},
                                            {"recall", "recall"},
                                            {"f1", "F1"},
                                            {"rows", "rows"}});
  for (std::size_t i = 0; i < report.classes.size(); ++i) {
    const ClassScores& one = report.classes[i];
    table.add({report.labels[i],
               {one.precision, percent_text(one.precision)},
               {one.recall, percent_text(one.recall)},
               {one.f1, percent_text(one.f1)},
               {one.num_rows, with_thousands(one.num_rows)}});
  }
  table.show_at_most(kMaxClasses, "class");
}

Table confusion_table(const Report& report) {
  std::vector<TableColumn> columns = {label_column("", "true \\ predicted")};
  for (const std::string& label : report.labels) {
    columns.push_back({.key = "", .title = table_cell(label, kLabelWidth)});
  }
  Table table(std::move(columns));
  for (int64_t target = 0; target < report.confusion.num_classes; ++target) {
    std::vector<Cell> row = {report.labels[static_cast<std::size_t>(target)]};
    for (int64_t predicted = 0; predicted < report.confusion.num_classes; ++predicted) {
      row.emplace_back(with_thousands(report.confusion.at(target, predicted)));
    }
    table.add(std::move(row));
  }
  return table;
}

void show_confused_pairs(const Report& report, Document& document) {
  std::vector<std::pair<int64_t, int64_t>> pairs;  // (-count, index in the matrix)
  const int64_t n = report.confusion.num_classes;
  for (int64_t i = 0; i < n * n; ++i) {
    const int64_t count = report.confusion.counts[static_cast<std::size_t>(i)];
    if (i / n != i % n && count > 0) pairs.emplace_back(-count, i);
  }
  if (pairs.empty()) return document.paragraph("no misclassified rows");
  const std::size_t shown = std::min(pairs.size(), kMaxPairs);
  std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(shown), pairs.end());
  Table table({label_column("", "most confused"), label_column("", "predicted as"), {"", "rows"}});
  for (std::size_t i = 0; i < shown; ++i) {
    const auto [count, at] = pairs[i];
    table.add({report.labels[static_cast<std::size_t>(at / n)],
               report.labels[static_cast<std::size_t>(at % n)], with_thousands(-count)});
  }
  document.show(std::move(table));
}

/// Returns all counts. With very many classes, most pairs never occur, so only those that are not
/// 0.
Json confusion_json(const Report& report) {
  constexpr int64_t kMaxDense = 1000;  // the most classes for a dense matrix
  const int64_t n = report.confusion.num_classes;
  Json json = {{"labels", report.labels}};
  Json& counts = json[n > kMaxDense ? "cells" : "counts"] = Json::array();
  for (int64_t target = 0; target < n; ++target) {
    const auto begin = report.confusion.counts.begin() + target * n;
    if (n <= kMaxDense) {
      counts.push_back(std::vector<int64_t>(begin, begin + n));
      continue;
    }
    for (int64_t predicted = 0; predicted < n; ++predicted) {
      if (begin[predicted] > 0) counts.push_back({target, predicted, begin[predicted]});
    }
  }
  return json;
}

void show_confusion(const Report& report, Document& document) {
  if (report.labels.size() > kMaxClasses) return show_confused_pairs(report, document);
  Table matrix = confusion_table(report);
  if (matrix.text().find('\n') > kPageWidth) return show_confused_pairs(report, document);
  document.show(std::move(matrix));
}

void add_targets(const Report& report, Document& document) {
  Table& table = document.table("targets", {label_column("target", "target"),
                                            {"mae", "MAE"},
                                            {"rmse", "RMSE"},
                                            {.key = "mape", .title = "", .is_shown = false},
                                            {"r2", "R2"}});
  for (std::size_t i = 0; i < report.targets.size(); ++i) {
    const TargetScores& one = report.targets[i];
    table.add({report.target_names[i],
               {one.mae, number_text(one.mae)},
               {one.rmse, number_text(one.rmse)},
               {one.mape, ""},
               {one.r2, score_text({"r2", one.r2})}});
  }
}

/// Shows the columns, and what the baseline of the report is and does better.
void show_scores(const Report& report, std::vector<ScoreColumn> columns, Document& document) {
  const std::vector<Score> main = columns.back().scores;
  if (report.baseline) columns.push_back({"baseline", report.baseline->scores});
  const std::vector<std::vector<std::string>> rows = score_rows(main, columns);
  std::vector<TableColumn> heads;
  for (const std::string& title : rows.front()) heads.push_back({"", title});
  heads.front().align = Align::kLeft;
  Table table(std::move(heads));
  for (std::size_t i = 1; i < rows.size(); ++i) table.add({rows[i].begin(), rows[i].end()});
  if (report.baseline) {
    table.add_note("baseline: " + report.baseline->rule);
    const std::vector<std::string> names = not_better(report.scores, report.baseline->scores);
    if (!names.empty()) {
      table.add_note("the model does not beat the baseline in " + joined(names));
    }
  }
  document.show(std::move(table));
}

}  // namespace

std::vector<Score> all_scores(const Report& report) {
  std::vector<Score> scores = {{"loss", report.loss}};
  scores.insert(scores.end(), report.scores.begin(), report.scores.end());
  return scores;
}

Document scores_document(const std::string& title, const Report& report,
                         std::vector<ScoreColumn> before) {
  Document document;
  document.data("rows", report.num_rows);
  for (const Score& score : all_scores(report)) document.data(score.name, score.value);
  if (report.baseline) {
    for (const Score& score : report.baseline->scores) {
      document.data("baseline." + score.name, score.value);
    }
  }
  before.push_back({title, all_scores(report)});
  show_scores(report, std::move(before), document);
  return document;
}

Document details_document(const Report& report, const std::string& title) {
  Document document;
  if (!title.empty() && report.classes.size() + report.targets.size() > 0) {
    document.paragraph(title);
  }
  if (!report.classes.empty()) add_classes(report, document);
  if (!report.labels.empty()) {
    show_confusion(report, document);
    document.data("confusion_matrix", confusion_json(report));
  }
  if (!report.targets.empty()) add_targets(report, document);
  return document;
}

Json to_json(const Report& report) {
  Document document = scores_document("", report);
  document.append(details_document(report));
  return document.json();
}

}  // namespace trainer::metrics
