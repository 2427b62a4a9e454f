// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/report_document.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/text_table.h"
#include "trainer/metrics/score.h"

namespace trainer::metrics {
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

/// Returns the scores of a group, such as "accuracy 97.78 %, AUROC 0.9991", without undefined ones.
std::string some_scores(const std::vector<Score>& scores, ScoreGroup group) {
  std::string text;
  for (const Score& score : scores) {
    const std::string shown = score_text(score);
    if (group_of(score.name) != group || shown == "undefined") continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shown_name(score.name), shown);
  }
  return text;
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

// Adds a line with scores, unless all of them are undefined.
void show_scores(std::string label, const std::string& text, Document& document) {
  if (!text.empty()) document.line(std::move(label), text);
}

void add_baseline(const Report& report, Document& document) {
  const auto& [rule, scores] = *report.baseline;
  for (const Score& score : scores) document.data("baseline." + score.name, score.value);
  document.line("baseline",
                fmt::format("{} ({})", some_scores(scores, ScoreGroup::kHeadline), rule));
  show_scores("", some_scores(scores, ScoreGroup::kFurther), document);
  show_scores("", some_scores(scores, ScoreGroup::kProbabilities), document);
  const std::vector<std::string> names = not_better(report.scores, scores);
  if (!names.empty()) {
    document.line("", "the model does not beat the baseline in " + joined(names));
  }
}

}  // namespace

// If the loss has weights or smoothed labels, it cannot be compared with other models, so the log
// loss is shown instead.
std::string summary_text(const Report& report) {
  constexpr double kRounding = 1e-3;
  const std::string scores = some_scores(report.scores, ScoreGroup::kHeadline);
  const std::optional<double> log_loss = find_score(report.scores, "log_loss");
  const bool is_another =
      log_loss && std::abs(*log_loss - report.loss) > kRounding * std::abs(report.loss);
  return fmt::format(
      "{}{}{}", scores, scores.empty() ? "" : ", ",
      is_another ? "log loss " + loss_text(*log_loss) : "loss " + loss_text(report.loss));
}

Document scores_document(const std::string& split, const Report& report,
                         const std::string& remark) {
  Document document;
  document.data("rows", report.num_rows);
  document.data("loss", report.loss);
  for (const Score& score : report.scores) document.data(score.name, score.value);
  document.line(split, summary_text(report) + remark);
  show_scores("", some_scores(report.scores, ScoreGroup::kFurther), document);
  show_scores("", some_scores(report.scores, ScoreGroup::kProbabilities), document);
  if (report.baseline) add_baseline(report, document);
  return document;
}

Document details_document(const Report& report) {
  Document document;
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
