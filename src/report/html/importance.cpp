// SPDX-License-Identifier: Apache-2.0
#include "report/html/importance.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/explain/partial_dependence.h"
#include "trainer/apply/model.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/text_table.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/metrics/score.h"

#include "report/html/run_series.h"

namespace trainer::report {
namespace {

constexpr int64_t kMaxRepeats = 3;
constexpr int64_t kMinRepeats = 2;  // fewer have no deviation
constexpr int64_t kMaxRows = 2000;
constexpr int64_t kGoodRows = 200;  // with fewer, rows matter more than shuffles
constexpr int64_t kMinRows = 30;    // fewer say too little
constexpr std::size_t kMaxEntries = 30;
constexpr std::size_t kMaxEffects = 4;
constexpr std::size_t kMaxPredictions = 6;  // each has a color
constexpr std::size_t kMaxText = 60;        // characters of a name

/// Returns the multiply-adds for one row, including an estimate for its outputs and features.
double work_per_row(const apply::Model& model) {
  constexpr double kPerOutput = 30;  // exponentials
  double work = static_cast<double>(model.schema.num_features()) +
                kPerOutput * static_cast<double>(model.num_outputs());
  for (const apply::Member& member : model.members) {
    const std::vector<int64_t> widths = network::widths(member.network);
    double sum = 0;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      sum += static_cast<double>(widths[i]) * static_cast<double>(widths[i + 1]);
    }
    work += sum * static_cast<double>(network::num_members(member.network));
  }
  return work;
}

/// How many shuffles and rows the importance is measured with.
struct Effort {
  int64_t repeats = kMaxRepeats;
  int64_t rows = kMaxRows;
};

/// Returns the largest effort for which all predictions take only a few seconds.
Effort affordable(const apply::Model& model, std::size_t num_groups) {
  constexpr double kMaxWork = 1e11;
  constexpr double kPoints = 12;  // values per effect
  Effort effort;
  for (; effort.repeats >= kMinRepeats; --effort.repeats) {
    const double num_predictions =
        static_cast<double>(effort.repeats) * static_cast<double>(num_groups) +
        static_cast<double>(kMaxEffects) * kPoints;
    const double rows = kMaxWork / (num_predictions * work_per_row(model));
    effort.rows = static_cast<int64_t>(std::min(rows, static_cast<double>(kMaxRows)));
    if (effort.rows >= kGoodRows || effort.repeats == kMinRepeats) break;
  }
  return effort;
}

explain::ExplainedRows chosen_rows(const apply::Model& model, const apply::SplitOutputs& found,
                                   int64_t num_rows) {
  return explain::choose_rows(found, {num_rows, static_cast<uint64_t>(model.config().seed)});
}

std::string note_text(const explain::Importance& importance, int64_t num_available) {
  const std::string& metric = to_text(importance.options.metric);
  const std::string rows = importance.num_rows == num_available
                               ? counted(num_available, "row")
                               : fmt::format("{} of {} rows", with_thousands(importance.num_rows),
                                             with_thousands(num_available));
  return fmt::format(
      "How much the {} {} when the cells of a column are shuffled among the rows: mean "
      "and standard deviation of {} shuffles of {}. The {} of these rows is {}.",
      metrics::shown_name(metric),
      is_better_when_larger(importance.options.metric) ? "falls" : "rises",
      importance.options.repeats, rows, metrics::shown_name(metric),
      metrics::score_text({metric, importance.score}));
}

Json table_of(const explain::PartialDependence& effect, const std::vector<std::string>& names,
              bool is_probability) {
  Json rows = Json::array();
  for (const explain::DependencePoint& point : effect.points) {
    Json row = {shortened(point.text, kMaxText), metrics::percent_text(point.share)};
    for (const double mean : point.means) {
      row.push_back(is_probability ? metrics::percent_text(mean) : metrics::number_text(mean));
    }
    rows.push_back(std::move(row));
  }
  Json head = {shortened(effect.column, kMaxText), "rows"};
  for (const std::string& name : names) head.push_back(name);
  return {{"head", std::move(head)}, {"rows", std::move(rows)}};
}

/// Returns a chart with a line for each prediction over the values of a numeric column, and the
/// share of the rows that are near each value.
Json chart_of(const explain::PartialDependence& effect, const std::vector<std::string>& names,
              std::size_t run) {
  std::vector<double> x;
  std::vector<double> shares;
  for (const explain::DependencePoint& point : effect.points) {
    if (!point.value) continue;
    x.push_back(*point.value);
    shares.push_back(point.share);
  }
  Json series = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<double> y;
    for (const explain::DependencePoint& point : effect.points) {
      if (point.value) y.push_back(point.means[i]);
    }
    Json one = {{"run", run}, {"name", names[i]}, {"x", number_list(x)}, {"y", number_list(y)}};
    one["dots"] = true;
    if (names.size() > 1) one["color"] = i;
    series.push_back(std::move(one));
  }
  const std::string name = shortened(effect.column, kMaxText);
  return {{"title", "Effect of " + name},
          {"x", name},
          {"still", true},
          {"shares", number_list(shares)},
          {"series", std::move(series)}};
}

/// Describes the effect of a column on those predictions that change most.
Json effect_json(explain::PartialDependence effect, const data::Schema& schema, std::size_t run) {
  const std::vector<std::size_t> shown = explain::most_changing(effect, kMaxPredictions);
  const std::vector<std::string> all = explain::prediction_names(schema);
  std::vector<std::string> names;
  names.reserve(shown.size());
  for (const std::size_t i : shown) names.push_back(shortened(all[i], kMaxText));
  for (explain::DependencePoint& point : effect.points) {
    std::vector<double> means;
    means.reserve(shown.size());
    for (const std::size_t i : shown) means.push_back(point.means[i]);
    point.means = std::move(means);
  }
  const bool is_probability = schema.task == config::Task::kClassification;
  Json json = table_of(effect, names, is_probability);
  json["title"] = "Effect of " + shortened(effect.column, kMaxText);
  json["text"] =
      fmt::format("Mean {} if all rows had the same value.",
                  is_probability ? (names.size() == 1 ? "probability of " + names.front()
                                                      : std::string("probability of each class"))
                                 : std::string("prediction"));
  if (names.size() < all.size()) {
    json["text"] = fmt::format(
        "Mean probability of the {} classes that change most, of {}, if all "
        "rows had the same value.",
        names.size(), with_thousands(std::ssize(all)));
  }
  if (effect.is_numeric && effect.points.size() > 2) json["chart"] = chart_of(effect, names, run);
  return json;
}

}  // namespace

std::optional<explain::Importance> measured_importance(const apply::Model& model,
                                                       const apply::SplitOutputs& found,
                                                       std::span<const explain::ColumnGroup> groups,
                                                       const ReportOptions& options) {
  const Effort effort = affordable(model, groups.size());
  const explain::ExplainedRows rows = chosen_rows(model, found, effort.rows);
  if (rows.rows.size() < std::min(kMinRows, found.rows.size())) return std::nullopt;
  explain::ImportanceOptions wanted{.metric = model.config().training.best_metric,
                                    .repeats = effort.repeats,
                                    .seed = static_cast<uint64_t>(model.config().seed),
                                    .num_threads = options.num_threads};
  try {
    return explain::permutation_importance(model, rows, groups, wanted);
  } catch (const Error&) {  // the metric is not defined for these rows
    wanted.metric = config::BestMetric::kLoss;
    return explain::permutation_importance(model, rows, groups, wanted);
  }
}

Json importance_json(const apply::Model& model, const apply::SplitOutputs& found,
                     std::span<const explain::ColumnGroup> groups,
                     const explain::Importance& importance, std::size_t run,
                     const ReportOptions& options) {
  Json json = {
      {"note", note_text(importance, found.rows.size())},
      {"entries", Json::array()},
      {"more", importance.columns.size() - std::min(importance.columns.size(), kMaxEntries)},
      {"effects", Json::array()}};
  for (const explain::ColumnImportance& column : importance.columns) {
    if (json["entries"].size() == kMaxEntries) break;
    json["entries"].push_back({{"name", shortened(groups[column.group].name, kMaxText)},
                               {"value", column.mean},
                               {"spread", column.deviation},
                               {"text", fmt::format("{:.3g}", column.mean)},
                               {"std", fmt::format("{:.2g}", column.deviation)},
                               {"noise", column.is_noise()}});
  }
  const explain::ExplainedRows rows = chosen_rows(model, found, importance.num_rows);
  for (const explain::ColumnImportance& column : importance.columns) {
    if (json["effects"].size() == kMaxEffects) break;
    for (explain::PartialDependence& effect :
         explain::partial_dependence(model, rows, groups[column.group], options.num_threads)) {
      if (json["effects"].size() == kMaxEffects) break;
      json["effects"].push_back(effect_json(std::move(effect), found.schema, run));
    }
  }
  return json;
}

std::vector<std::string> important_columns(const Json& importance) {
  std::vector<std::string> names;
  for (const Json& column : importance.value("entries", Json::array())) {
    if (!column["noise"].get<bool>()) names.push_back(column["name"]);
  }
  return names;
}

}  // namespace trainer::report
