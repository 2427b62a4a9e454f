// SPDX-License-Identifier: Apache-2.0
#include "trainer/explain/explain_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/labeled_lines.h"
#include "trainer/core/text_table.h"
#include "trainer/metrics/score.h"

namespace trainer::explain {
namespace {

constexpr std::size_t kMaxRows = 30;
constexpr std::size_t kMaxPredictions = 6;  // side by side
constexpr std::size_t kNameWidth = 48;
constexpr std::size_t kCellWidth = 24;
constexpr double kBarWidth = 20;

using Rows = std::vector<std::vector<std::string>>;

/// "####" in proportion to the largest size, and what is to be said behind it.
std::string bar(double value, double largest, const std::string& remark = "") {
  const auto length = largest > 0 ? std::max(0.0, std::round(kBarWidth * value / largest)) : 0;
  std::string text(static_cast<std::size_t>(length), '#');
  if (!remark.empty()) text += (text.empty() ? "" : " ") + remark;
  return text;
}

/// A table whose last column, as far as there is one, begins at the left.
std::string table_with_bars(const Rows& rows, const std::vector<std::string>& bars) {
  const std::string table = text_table(rows);
  std::string text;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t end = table.find('\n', begin);
    text += table.substr(begin, end - begin);
    if (i > 0 && i <= bars.size() && !bars[i - 1].empty()) text += "  " + bars[i - 1];
    text += '\n';
    begin = end + 1;
  }
  return text;
}

std::string more_text(std::size_t count) {
  return count <= kMaxRows ? ""
                           : fmt::format("and {} more (--json has all)\n",
                                         counted(static_cast<int64_t>(count - kMaxRows), "column"));
}

/// Mean predictions of a column of a table: with as many digits as tell them apart.
std::string mean_text(double mean, bool is_probability) {
  return is_probability ? fmt::format("{:.4f}", mean) : metrics::number_text(mean);
}

std::string signed_text(double value) {
  const std::string text = metrics::number_text(value);
  return value > 0 ? "+" + text : text;
}

std::string output_table(const ExplainedOutput& output, const Contributions& found,
                         std::span<const ColumnGroup> groups) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t i) { return std::abs(output.contributions[i]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  const bool has_cells = std::any_of(found.cells.begin(), found.cells.end(),
                                     [](const std::string& cell) { return !cell.empty(); });
  Rows rows = {{"column", "contribution"}};
  if (has_cells) rows.front().insert(rows.front().begin() + 1, "value");
  std::vector<std::string> bars;
  for (std::size_t i = 0; i < std::min(order.size(), kMaxRows); ++i) {
    const std::size_t group = order[i];
    auto& row = rows.emplace_back();
    row.push_back(table_cell(groups[group].name, kNameWidth));
    if (has_cells) row.push_back(table_cell(found.cells[group], kCellWidth));
    row.push_back(signed_text(output.contributions[group]));
    bars.push_back(bar(size(group), size(order.front())));
  }
  return table_with_bars(rows, bars) + more_text(order.size());
}

}  // namespace

std::string importance_text(const Importance& importance, std::span<const ColumnGroup> groups) {
  const std::string& metric = to_text(importance.options.metric);
  const bool is_larger = is_better_when_larger(importance.options.metric);
  LabeledLines lines;
  lines.add(
      "metric",
      fmt::format("{} {} ({} is better){}", metrics::shown_name(metric),
                  metrics::score_text({metric, importance.score}), is_larger ? "larger" : "smaller",
                  importance.baseline
                      ? fmt::format(", without any column {}",
                                    metrics::score_text({metric, *importance.baseline}))
                      : ""));
  lines.add("importance", fmt::format("how much the {} {} when the cells of a column are shuffled",
                                      metrics::shown_name(metric), is_larger ? "falls" : "rises"));
  lines.add("",
            fmt::format("mean and standard deviation of {}, seed {}",
                        counted(importance.options.repeats, "shuffle"), importance.options.seed));
  Rows rows = {{"column", "importance", "std"}};
  std::vector<std::string> bars;
  const double largest = importance.columns.empty() ? 0 : importance.columns.front().mean;
  for (const ColumnImportance& column : importance.columns) {
    if (rows.size() > kMaxRows) break;
    rows.push_back({table_cell(groups[column.group].name, kNameWidth),
                    fmt::format("{:.4g}", column.mean), fmt::format("{:.2g}", column.deviation)});
    bars.push_back(bar(column.mean, largest, column.is_noise() ? "within the noise" : ""));
  }
  return lines.text() + "\n" + table_with_bars(rows, bars) + more_text(importance.columns.size());
}

std::string dependence_text(const PartialDependence& dependence, const data::Schema& schema) {
  const std::vector<std::string> names = prediction_names(schema);
  const bool is_probability = schema.task == config::Task::kClassification;
  const std::vector<std::size_t> shown = most_changing(dependence, kMaxPredictions);
  Rows rows = {{table_cell(dependence.column, kNameWidth), "rows"}};
  for (const std::size_t i : shown) rows.front().push_back(table_cell(names[i], kCellWidth));
  for (const DependencePoint& point : dependence.points) {
    rows.push_back({table_cell(point.text, kCellWidth), metrics::percent_text(point.share)});
    for (const std::size_t i : shown) {
      rows.back().push_back(mean_text(point.means[i], is_probability));
    }
  }
  std::string text =
      fmt::format("mean {} if all rows had the same {}:\n",
                  is_probability ? "probability" : "prediction", in_quotes(dependence.column)) +
      text_table(rows);
  if (dependence.num_more > 0) {
    text += fmt::format("and {} more categories\n", dependence.num_more);
  }
  if (shown.size() < names.size()) {
    text += fmt::format("and {} more classes, which change less (--json has all)\n",
                        names.size() - shown.size());
  }
  return text;
}

std::string contributions_text(const Contributions& found, std::span<const ColumnGroup> groups) {
  LabeledLines lines;
  lines.add("prediction", table_cell(found.prediction, kNameWidth * 2));
  lines.add("baseline", found.baseline);
  std::string text = lines.text();
  for (const ExplainedOutput& output : found.outputs) {
    LabeledLines of_output;
    of_output.add("explained", fmt::format("{}: {} at the row, {} at the baseline", output.name,
                                           metrics::number_text(output.at_row),
                                           metrics::number_text(output.at_baseline)));
    const double sum =
        std::accumulate(output.contributions.begin(), output.contributions.end(), 0.0);
    of_output.add("sum", fmt::format("{} of a difference of {}{} ({})", signed_text(sum),
                                     signed_text(output.at_row - output.at_baseline),
                                     output.adds_up ? "" : ": the contributions do not add up",
                                     counted(output.num_steps, "step")));
    text += (&output == found.outputs.data() ? "" : "\n") + of_output.text() + "\n" +
            output_table(output, found, groups);
  }
  return text;
}

}  // namespace trainer::explain
