// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/score.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"

namespace trainer::metrics {
namespace {

constexpr double kMaxRelative = 1e6;  // a larger mape means that targets are 0

enum class Style { kFourDigits, kPercent, kNumber };

struct Kind {
  std::string_view name;
  std::string_view shown;
  Style style;
  ScoreGroup group;
};

constexpr ScoreGroup kHeadline = ScoreGroup::kHeadline;
constexpr ScoreGroup kFurther = ScoreGroup::kFurther;
constexpr ScoreGroup kProbabilities = ScoreGroup::kProbabilities;

constexpr std::array<Kind, 16> kKinds = {{
    {"loss", "loss", Style::kFourDigits, kHeadline},
    {"log_loss", "log loss", Style::kFourDigits, kProbabilities},
    {"calibrated_log_loss", "calibrated log loss", Style::kFourDigits, kProbabilities},
    {"brier", "Brier score", Style::kFourDigits, kProbabilities},
    {"ece", "calibration error", Style::kFourDigits, kProbabilities},
    {"accuracy", "accuracy", Style::kPercent, kHeadline},
    {"balanced_accuracy", "balanced accuracy", Style::kPercent, kFurther},
    {"f1", "F1", Style::kPercent, kHeadline},
    {"binary_f1", "binary F1", Style::kPercent, kFurther},
    {"top_5_accuracy", "top 5", Style::kPercent, kHeadline},
    {"auroc", "AUROC", Style::kFourDigits, kHeadline},
    {"pr_auc", "PR-AUC", Style::kFourDigits, kFurther},
    {"mae", "MAE", Style::kNumber, kHeadline},
    {"rmse", "RMSE", Style::kNumber, kHeadline},
    {"mape", "MAPE", Style::kPercent, kHeadline},
    {"r2", "R2", Style::kFourDigits, kHeadline},
}};

Kind find_kind(std::string_view name) {
  const Kind* found = find_by_name(kKinds, name);
  return found == nullptr ? Kind{name, name, Style::kNumber, kFurther} : *found;
}

}  // namespace

nlohmann::ordered_json scores_json(const std::vector<Score>& scores) {
  Json json = Json::object();
  for (const Score& score : scores) json[score.name] = score.value;
  return json;
}

std::vector<Score> scores_in(const JsonReader& json) {
  std::vector<Score> scores;
  for (const auto& [name, value] : json.entries()) {
    if (is_score(name) && value.is_number()) scores.push_back({name, value.number()});
  }
  return scores;
}

std::optional<double> find_score(const std::vector<Score>& scores, const std::string& name) {
  const Score* found = find_by_name(scores, name);
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

std::vector<std::string> score_names() {
  std::vector<std::string> names;
  names.reserve(kKinds.size());
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

bool is_score(std::string_view name) { return find_by_name(kKinds, name) != nullptr; }

ScoreGroup group_of(std::string_view name) { return find_kind(name).group; }

std::string shown_name(std::string_view name) { return std::string(find_kind(name).shown); }

std::string score_text(const Score& score) {
  const double value = score.value;
  if (std::isnan(value) || (score.name == "mape" && value >= kMaxRelative)) return "undefined";
  switch (find_kind(score.name).style) {
    case Style::kFourDigits:
      return loss_text(value);
    case Style::kPercent:
      return percent_text(value);
    case Style::kNumber:
      break;
  }
  return number_text(value);
}

std::string loss_text(double loss) {
  constexpr double kLong = 1e6;
  return std::abs(loss) < kLong ? fmt::format("{:.4f}", loss) : fmt::format("{:.3g}", loss);
}

std::string percent_text(double share) {
  constexpr double kSmall = 0.005;  // would be shown as 0.00
  const double shown = share < 1 ? std::min(100 * share, 99.99) : 100 * share;
  return share > 0 && shown < kSmall ? fmt::format("{:.2g} %", shown)
                                     : fmt::format("{:.2f} %", shown);
}

std::string number_text(double value) {
  constexpr double kLong = 1e15;
  constexpr double kShort = 1e-4;
  constexpr double kWhole = 999.95;  // from here on, shown without a fraction
  const double size = std::fabs(value);
  if (!std::isfinite(value) || size >= kLong || (size > 0 && size < kShort)) {
    return fmt::format("{:.4g}", value);
  }
  return size < kWhole ? fmt::format("{:.4g}", value) : with_thousands(std::llround(value));
}

namespace {

/// Whether the loss differs from the log loss because it has weights or smoothed labels, or is that
/// of a regression. Otherwise one of them says both.
bool has_own_loss(const std::vector<Score>& scores, double loss) {
  constexpr double kRounding = 1e-3;
  const std::optional<double> log_loss = find_score(scores, "log_loss");
  return !log_loss || std::abs(*log_loss - loss) > kRounding * std::abs(loss);
}

std::vector<Score> in_shown_order(const std::vector<Score>& scores) {
  std::vector<Score> ordered;
  for (const ScoreGroup group : {kHeadline, kFurther, kProbabilities}) {
    for (const Score& score : scores) {
      if (group_of(score.name) == group && score.name != "loss") ordered.push_back(score);
    }
  }
  const std::optional<double> loss = find_score(scores, "loss");
  if (loss && has_own_loss(scores, *loss)) ordered.push_back({"loss", *loss});
  return ordered;
}

}  // namespace

std::vector<std::vector<std::string>> score_rows(const std::vector<Score>& main,
                                                 std::span<const ScoreColumn> columns) {
  std::vector<std::vector<std::string>> rows = {{"metric"}};
  for (const ScoreColumn& column : columns) rows.front().push_back(column.title);
  for (const Score& score : in_shown_order(main)) {
    if (score_text(score) == "undefined") continue;
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(shown_name(score.name));
    for (const ScoreColumn& column : columns) {
      const std::optional<double> value = find_score(column.scores, score.name);
      row.push_back(value ? score_text({score.name, *value}) : "");
    }
  }
  return rows;
}

std::vector<std::string> not_better(const std::vector<Score>& scores,
                                    const std::vector<Score>& baseline) {
  std::vector<std::string> names;
  for (const char* name : {"accuracy", "log_loss", "mae", "rmse"}) {
    const auto value = find_score(scores, name);
    const auto base = find_score(baseline, name);
    if (!value || !base) continue;
    const bool larger_is_better = std::string_view(name) == "accuracy";
    const bool is_better = larger_is_better ? *value > *base : *value < *base;
    if (!is_better) names.push_back(shown_name(name));
  }
  return names;
}

Interval share_interval(double share, int64_t num_rows) {
  const auto n = static_cast<double>(num_rows);
  const double square = kNormalQuantile * kNormalQuantile / n;
  const double width = kNormalQuantile * std::sqrt(share * (1 - share) / n + square / (4 * n));
  return {(share + square / 2 - width) / (1 + square), (share + square / 2 + width) / (1 + square)};
}

std::optional<Interval> mean_interval(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double width = kNormalQuantile * std::sqrt(squares / (n - 1) / n);
  return Interval{mean - width, mean + width};
}

}  // namespace trainer::metrics
