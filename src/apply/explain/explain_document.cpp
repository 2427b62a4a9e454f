// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/explain/explain_document.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/text_table.h"
#include "trainer/metrics/score.h"

namespace trainer::explain {
namespace {

constexpr std::size_t kMaxRows = 30;
constexpr std::size_t kMaxPredictions = 6;  // columns of predictions in a table
constexpr std::size_t kNameWidth = 48;
constexpr std::size_t kCellWidth = 24;
constexpr double kBarWidth = 20;
constexpr const char* kAllInJson = " (--json has all)";

/// A bar "####" with a length in proportion to the largest value, followed by a remark.
std::string bar(double value, double largest, const std::string& remark = "") {
  const auto length = largest > 0 ? std::max(0.0, std::round(kBarWidth * value / largest)) : 0;
  std::string text(static_cast<std::size_t>(length), '#');
  if (!remark.empty()) text += (text.empty() ? "" : " ") + remark;
  return text;
}

/// A mean prediction with enough digits to compare it with the others of its column.
std::string mean_text(double mean, bool is_probability) {
  return is_probability ? fmt::format("{:.4f}", mean) : metrics::number_text(mean);
}

std::string signed_text(double value) {
  const std::string text = metrics::number_text(value);
  return value > 0 ? "+" + text : text;
}

void add_metric(const Importance& importance, Document& document) {
  const std::string& metric = to_text(importance.options.metric);
  const bool is_larger = is_better_when_larger(importance.options.metric);
  std::string text = fmt::format("{} {} ({} is better)", metrics::shown_name(metric),
                                 metrics::score_text({metric, importance.score}),
                                 is_larger ? "larger" : "smaller");
  if (importance.baseline) {
    text +=
        fmt::format(", without any column {}", metrics::score_text({metric, *importance.baseline}));
  }
  document.add("metric", "metric", {metric, text});
  document.data("score", importance.score);
  document.data("baseline", importance.baseline ? Json(*importance.baseline) : Json());
  document.data("rows", importance.num_rows);
  document.data("repeats", importance.options.repeats);
  document.data("seed", importance.options.seed);
  document.line("importance",
                fmt::format("how much the {} {} when the cells of a column are shuffled",
                            metrics::shown_name(metric), is_larger ? "falls" : "rises"));
  document.line(
      "", fmt::format("mean and standard deviation of {}, seed {}",
                      counted(importance.options.repeats, "shuffle"), importance.options.seed));
}

void show_dependence(const PartialDependence& dependence, const std::vector<std::string>& names,
                     bool is_probability, Document& document) {
  const std::vector<std::size_t> shown = most_changing(dependence, kMaxPredictions);
  std::vector<TableColumn> columns = {{.key = "",
                                       .title = table_cell(dependence.column, kNameWidth),
                                       .align = Align::kLeft,
                                       .max_width = kCellWidth},
                                      {"", "rows"}};
  for (const std::size_t i : shown) columns.push_back({"", table_cell(names[i], kCellWidth)});
  Table table(std::move(columns));
  for (const DependencePoint& point : dependence.points) {
    std::vector<Cell> row = {point.text, metrics::percent_text(point.share)};
    for (const std::size_t i : shown) row.emplace_back(mean_text(point.means[i], is_probability));
    table.add(std::move(row));
  }
  table.set_title(fmt::format(
      "mean {} if all rows had the same {}:", is_probability ? "probability" : "prediction",
      in_quotes(dependence.column)));
  if (dependence.num_more > 0) {
    table.add_note(fmt::format("and {} more categories", dependence.num_more));
  }
  if (shown.size() < names.size()) {
    table.add_note(fmt::format("and {} more classes, which change less{}",
                               names.size() - shown.size(), kAllInJson));
  }
  document.show(std::move(table));
}

Json dependence_json(const PartialDependence& dependence) {
  Json points = Json::array();
  for (const DependencePoint& point : dependence.points) {
    Json added = {{"cell", point.text}, {"share", point.share}, {"means", point.means}};
    if (point.value) added["value"] = *point.value;
    points.push_back(std::move(added));
  }
  return {{"column", dependence.column},
          {"kind", dependence.is_numeric ? "numeric" : "categorical"},
          {"more_categories", dependence.num_more},
          {"points", std::move(points)}};
}

/// The table for people, with the columns that contribute most first.
Table contribution_table(const ExplainedOutput& output, const Contributions& found,
                         std::span<const ColumnGroup> groups) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t i) { return std::abs(output.contributions[i]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  const bool has_cells = std::any_of(found.cells.begin(), found.cells.end(),
                                     [](const std::string& cell) { return !cell.empty(); });
  Table table({{.key = "", .title = "column", .align = Align::kLeft, .max_width = kNameWidth},
               {.key = "", .title = "value", .max_width = kCellWidth, .is_shown = has_cells},
               {"", "contribution"},
               {"", "", Align::kLeft}});
  for (const std::size_t i : order) {
    table.add({groups[i].name, found.cells[i], signed_text(output.contributions[i]),
               bar(size(i), size(order.front()))});
  }
  table.show_at_most(kMaxRows, "column", kAllInJson);
  return table;
}

Json output_json(const ExplainedOutput& output, const Contributions& found,
                 std::span<const ColumnGroup> groups) {
  Json contributions = Json::array();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    contributions.push_back({{"column", groups[i].name},
                             {"cell", found.cells[i]},
                             {"contribution", output.contributions[i]}});
  }
  return {{"output", output.name},
          {"at_baseline", output.at_baseline},
          {"at_row", output.at_row},
          {"steps", output.num_steps},
          {"error", output.error},
          {"adds_up", output.adds_up},
          {"contributions", std::move(contributions)}};
}

}  // namespace

Document importance_document(const Importance& importance, std::span<const ColumnGroup> groups) {
  Document document;
  add_metric(importance, document);
  Table& table = document.table(
      "columns",
      {{.key = "column", .title = "column", .align = Align::kLeft, .max_width = kNameWidth},
       {"importance", "importance"},
       {"std", "std"},
       {"within_noise", "", Align::kLeft}});
  const double largest = importance.columns.empty() ? 0 : importance.columns.front().mean;
  for (const ColumnImportance& column : importance.columns) {
    table.add({groups[column.group].name,
               {column.mean, fmt::format("{:.4g}", column.mean)},
               {column.deviation, fmt::format("{:.2g}", column.deviation)},
               {column.is_noise(),
                bar(column.mean, largest, column.is_noise() ? "within the noise" : "")}});
  }
  table.show_at_most(kMaxRows, "column", kAllInJson);
  return document;
}

Document dependence_document(std::span<const PartialDependence> all, const data::Schema& schema) {
  const std::vector<std::string> names = prediction_names(schema);
  Document document;
  Json columns = Json::array();
  for (const PartialDependence& one : all) {
    show_dependence(one, names, schema.task == config::Task::kClassification, document);
    columns.push_back(dependence_json(one));
  }
  document.data("partial_dependence.predictions", names);
  document.data("partial_dependence.columns", std::move(columns));
  return document;
}

Document contributions_document(const Contributions& found, std::span<const ColumnGroup> groups) {
  Document document;
  document.add("prediction", "prediction",
               {found.prediction, table_cell(found.prediction, kNameWidth * 2)});
  document.add("baseline", "baseline", found.baseline);
  Json outputs = Json::array();
  for (const ExplainedOutput& output : found.outputs) {
    const double sum =
        std::accumulate(output.contributions.begin(), output.contributions.end(), 0.0);
    document.line("explained", fmt::format("{}: {} at the row, {} at the baseline", output.name,
                                           metrics::number_text(output.at_row),
                                           metrics::number_text(output.at_baseline)));
    document.line("sum", fmt::format("{} of a difference of {}{} ({})", signed_text(sum),
                                     signed_text(output.at_row - output.at_baseline),
                                     output.adds_up ? "" : ": the contributions do not add up",
                                     counted(output.num_steps, "step")));
    document.show(contribution_table(output, found, groups));
    outputs.push_back(output_json(output, found, groups));
  }
  document.data("outputs", std::move(outputs));
  return document;
}

}  // namespace trainer::explain
