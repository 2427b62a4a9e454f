// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/report_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/json.h"
#include "trainer/core/labeled_lines.h"
#include "trainer/core/text_table.h"
#include "trainer/metrics/score.h"

namespace trainer::metrics {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kLabelWidth = 24;
constexpr std::size_t kPageWidth = 100;
constexpr std::size_t kMaxClasses = 30;  // in the log; summary.json has all
constexpr std::size_t kMaxPairs = 10;

std::string cell_text(const std::string& label) { return table_cell(label, kLabelWidth); }

/// "accuracy 97.78 %, AUROC 0.9991", and nothing of what is not defined.
std::string some_scores(const std::vector<Score>& scores, ScoreGroup group) {
  std::string text;
  for (const Score& score : scores) {
    const std::string shown = score_text(score);
    if (group_of(score.name) != group || shown == "undefined") continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shown_name(score.name), shown);
  }
  return text;
}

std::string class_table(const Report& report) {
  Rows rows = {{"class", "precision", "recall", "F1", "rows"}};
  const std::size_t shown = std::min(report.classes.size(), kMaxClasses);
  for (std::size_t i = 0; i < shown; ++i) {
    const ClassScores& one = report.classes[i];
    rows.push_back({cell_text(report.labels[i]), percent_text(one.precision),
                    percent_text(one.recall), percent_text(one.f1), with_thousands(one.num_rows)});
  }
  std::string text = text_table(rows);
  if (shown < report.classes.size()) {
    text += fmt::format("and {} more classes\n", report.classes.size() - shown);
  }
  return text;
}

std::string matrix_table(const Report& report) {
  Rows rows = {{"true \\ predicted"}};
  for (const std::string& label : report.labels) {
    rows.front().push_back(cell_text(label));
  }
  for (int64_t target = 0; target < report.confusion.num_classes; ++target) {
    rows.push_back({cell_text(report.labels[static_cast<std::size_t>(target)])});
    for (int64_t predicted = 0; predicted < report.confusion.num_classes; ++predicted) {
      rows.back().push_back(with_thousands(report.confusion.at(target, predicted)));
    }
  }
  return text_table(rows);
}

std::string confused_pairs(const Report& report) {
  std::vector<std::pair<int64_t, int64_t>> pairs;  // how often, and where
  const int64_t n = report.confusion.num_classes;
  for (int64_t i = 0; i < n * n; ++i) {
    const int64_t count = report.confusion.counts[static_cast<std::size_t>(i)];
    if (i / n != i % n && count > 0) pairs.emplace_back(-count, i);
  }
  if (pairs.empty()) return "no misclassified rows";
  const std::size_t shown = std::min(pairs.size(), kMaxPairs);
  std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(shown), pairs.end());
  Rows rows = {{"most confused", "predicted as", "rows"}};
  for (std::size_t i = 0; i < shown; ++i) {
    const auto label = [&](int64_t which) {
      return cell_text(report.labels[static_cast<std::size_t>(which)]);
    };
    const auto [count, at] = pairs[i];
    rows.push_back({label(at / n), label(at % n), with_thousands(-count)});
  }
  return text_table(rows);
}

/// All counts; of very many classes, of which most pairs never occur, those that are not 0.
Json confusion_json(const Report& report) {
  constexpr int64_t kMaxDense = 1000;  // classes
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

bool fits_page(const std::string& table) { return table.find('\n') <= kPageWidth; }

}  // namespace

Json to_json(const Report& report) {
  Json json = {{"rows", report.num_rows}, {"loss", report.loss}};
  for (const Score& score : report.scores) json[score.name] = score.value;
  if (report.baseline) {
    for (const Score& score : report.baseline->scores) json["baseline"][score.name] = score.value;
  }
  for (std::size_t i = 0; i < report.classes.size(); ++i) {
    const ClassScores& one = report.classes[i];
    json["classes"].push_back({{"label", report.labels[i]},
                               {"precision", one.precision},
                               {"recall", one.recall},
                               {"f1", one.f1},
                               {"rows", one.num_rows}});
  }
  if (!report.labels.empty()) {
    json["confusion_matrix"] = confusion_json(report);
  }
  for (std::size_t i = 0; i < report.targets.size(); ++i) {
    const TargetScores& one = report.targets[i];
    json["targets"].push_back({{"target", report.target_names[i]},
                               {"mae", one.mae},
                               {"rmse", one.rmse},
                               {"mape", one.mape},
                               {"r2", one.r2}});
  }
  return json;
}

// A loss with weights or smoothed labels is no measure that other models have.
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

std::string result_lines(const std::string& split, const Report& report,
                         const std::string& remark) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += labeled_line(name, value) + "\n";
  };
  line(split, summary_text(report) + remark);
  line("", some_scores(report.scores, ScoreGroup::kFurther));
  line("", some_scores(report.scores, ScoreGroup::kProbabilities));
  if (!report.baseline) return text;
  const auto& [rule, scores] = *report.baseline;
  line("baseline", fmt::format("{} ({})", some_scores(scores, ScoreGroup::kHeadline), rule));
  line("", some_scores(scores, ScoreGroup::kFurther));
  line("", some_scores(scores, ScoreGroup::kProbabilities));
  const std::vector<std::string> names = not_better(report.scores, scores);
  if (!names.empty()) line("", "the model does not beat the baseline in " + joined(names));
  return text;
}

std::string details_text(const Report& report) {
  if (!report.labels.empty()) {
    const std::string matrix = report.labels.size() > kMaxClasses ? "" : matrix_table(report);
    const bool is_shown = !matrix.empty() && fits_page(matrix);
    return class_table(report) + "\n" + (is_shown ? matrix : confused_pairs(report));
  }
  if (report.targets.empty()) return "";
  Rows rows = {{"target", "MAE", "RMSE", "R2"}};
  for (std::size_t i = 0; i < report.targets.size(); ++i) {
    const TargetScores& one = report.targets[i];
    rows.push_back({cell_text(report.target_names[i]), number_text(one.mae), number_text(one.rmse),
                    score_text({"r2", one.r2})});
  }
  return text_table(rows);
}

}  // namespace trainer::metrics
