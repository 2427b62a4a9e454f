// SPDX-License-Identifier: Apache-2.0
#include "report/worst_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/apply/model.h"
#include "trainer/apply/predictor.h"
#include "trainer/core/format.h"
#include "trainer/core/text_table.h"
#include "trainer/metrics/score.h"

namespace trainer::report {
namespace {

constexpr std::size_t kMaxWorst = 20;
constexpr std::size_t kMaxCells = 6;    // of a row
constexpr std::size_t kCellWidth = 40;  // characters

std::vector<std::string> described_row(const apply::Model& model, const apply::SplitOutputs& found,
                                       std::size_t row) {
  std::vector<std::string> cells = {with_thousands(found.rows.source_lines.empty()
                                                       ? static_cast<int64_t>(row) + 1
                                                       : found.rows.source_lines[row])};
  const auto width = static_cast<std::size_t>(model.num_outputs());
  const std::span<const float> outputs(found.outputs.data() + row * width, width);
  if (found.schema.task == config::Task::kClassification) {
    const std::vector<float> p = apply::probabilities(model, outputs);
    const auto predicted =
        static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    const auto truth = static_cast<std::size_t>(found.rows.classes[row]);
    cells.push_back(shortened(found.schema.labels[truth], kCellWidth));
    cells.push_back(shortened(found.schema.labels[predicted], kCellWidth));
    cells.push_back(metrics::percent_text(static_cast<double>(p[truth])));
  } else {
    const std::span<const float> targets(found.rows.values.data() + row * width, width);
    for (const auto& values :
         {data::predicted_values(found.schema, targets), apply::predicted_values(model, outputs)}) {
      std::vector<std::string> texts;
      texts.reserve(values.size());
      for (const double value : values) texts.push_back(metrics::number_text(value));
      cells.push_back(fmt::format("{}", fmt::join(texts, ", ")));
    }
  }
  cells.push_back(metrics::loss_text(static_cast<double>(found.losses[row])));
  return cells;
}

/// Groups whose cells can be shown, the most important ones first.
std::vector<std::size_t> shown_columns(std::span<const explain::ColumnGroup> groups,
                                       const std::optional<explain::Importance>& importance) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; importance && i < order.size(); ++i) {
    order[i] = importance->columns[i].group;
  }
  std::erase_if(order, [&](std::size_t group) { return groups[group].parts.empty(); });
  order.resize(std::min(order.size(), kMaxCells));
  return order;
}

/// The features `[num_features]` of a row.
std::vector<float> features_of(const data::Dataset& rows, std::size_t row) {
  std::vector<float> features;
  features.reserve(static_cast<std::size_t>(rows.features.num_columns));
  for (int64_t i = 0; i < rows.features.num_columns; ++i) {
    features.push_back(
        static_cast<float>(data::value_at(rows.features, static_cast<int64_t>(row), i)));
  }
  return features;
}

}  // namespace

Json worst_rows(const apply::Model& model, const apply::SplitOutputs& found,
                std::span<const explain::ColumnGroup> groups,
                const std::optional<explain::Importance>& importance) {
  std::vector<std::size_t> order(found.losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto loss = [&](std::size_t i) {
    return std::isnan(found.losses[i]) ? std::numeric_limits<float>::infinity() : found.losses[i];
  };
  const std::size_t count = std::min(order.size(), kMaxWorst);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) { return loss(a) > loss(b); });
  Json head = {"row of the file", "true", "predicted"};
  if (found.schema.task == config::Task::kClassification) {
    head.push_back("probability of the true class");
  }
  head.push_back("loss");
  const std::vector<std::size_t> columns = shown_columns(groups, importance);
  for (const std::size_t group : columns) {
    head.push_back(shortened(groups[group].name, kCellWidth));
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> cells = described_row(model, found, order[i]);
    const std::vector<float> features = features_of(found.rows, order[i]);
    for (const std::size_t group : columns) {
      cells.push_back(shortened(explain::cell_text(groups[group], features), kCellWidth));
    }
    rows.push_back(std::move(cells));
  }
  return {{"head", std::move(head)}, {"rows", std::move(rows)}};
}

}  // namespace trainer::report
