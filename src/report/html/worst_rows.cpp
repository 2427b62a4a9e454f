// SPDX-License-Identifier: Apache-2.0
#include "report/html/worst_rows.h"

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
#include "trainer/apply/source_cells.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/text_table.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/metrics/score.h"
#include "trainer/table/source/table_source.h"

namespace trainer::report {
namespace {

constexpr std::size_t kMaxWorst = 20;
constexpr std::size_t kMaxCells = 6;    // of a row
constexpr std::size_t kCellWidth = 40;  // characters

/// Returns the line of a row in its file, or the number of the row from 1 if lines are not known.
int64_t place_of(const apply::SplitOutputs& found, std::size_t row) {
  return found.rows.source_lines.empty() ? static_cast<int64_t>(row) + 1
                                         : found.rows.source_lines[row];
}

std::string numbers_text(std::span<const double> values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const double value : values) texts.push_back(metrics::number_text(value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Returns the true and the predicted value of a row, the error and the loss.
std::vector<std::string> judged_row(const apply::Model& model, const apply::SplitOutputs& found,
                                    std::size_t row) {
  std::vector<std::string> cells;
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
    const std::vector<double> all = data::true_values(found.schema, found.rows);
    const std::span<const double> truth(all.data() + row * width, width);
    const std::vector<double> predicted = apply::predicted_values(model, outputs);
    std::vector<double> errors;
    for (std::size_t i = 0; i < width; ++i) errors.push_back(predicted[i] - truth[i]);
    cells = {numbers_text(truth), numbers_text(predicted), numbers_text(errors)};
  }
  cells.push_back(metrics::loss_text(static_cast<double>(found.losses[row])));
  return cells;
}

/// Returns the groups of columns that are shown, the most important ones first.
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

/// Returns the features of a row as floats, `[num_features]`.
std::vector<float> features_of(const data::Dataset& rows, std::size_t row) {
  std::vector<float> features;
  features.reserve(static_cast<std::size_t>(rows.features.num_columns));
  for (int64_t i = 0; i < rows.features.num_columns; ++i) {
    features.push_back(
        static_cast<float>(data::value_at(rows.features, static_cast<int64_t>(row), i)));
  }
  return features;
}

/// Returns the cells as they are in the file, or none if it cannot be read again; then the features
/// of the model are shown instead.
apply::SourceCells cells_of(const apply::Model& model, const std::string& split,
                            std::span<const int64_t> places) {
  try {
    return apply::own_cells(model, split, places);
  } catch (const Error&) {
    apply::SourceCells none;
    none.has_lines = data::has_lines(model.config().data);
    return none;
  }
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
  order.resize(count);
  std::vector<int64_t> places;
  for (const std::size_t row : order) places.push_back(place_of(found, row));
  const apply::SourceCells source = cells_of(model, found.split, places);
  Json head = {source.has_lines ? "line" : "row"};
  for (std::size_t i = 0; i < source.num_ids; ++i) {
    head.push_back(shortened(source.names[i], kCellWidth));
  }
  const bool has_classes = found.schema.task == config::Task::kClassification;
  for (const char* name : {"true", "predicted"}) head.push_back(name);
  head.push_back(has_classes ? "probability of the true class" : "error");
  head.push_back("loss");
  const std::vector<std::size_t> columns = shown_columns(groups, importance);
  for (const std::size_t group : columns) {
    head.push_back(shortened(groups[group].name, kCellWidth));
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> cells = {fmt::to_string(places[i])};
    const auto add = [&](const std::string& text) { cells.push_back(shortened(text, kCellWidth)); };
    for (std::size_t id = 0; id < source.num_ids; ++id) {
      const std::string* cell = source.find(places[i], source.names[id]);
      add(cell == nullptr ? "" : *cell);
    }
    for (const std::string& text : judged_row(model, found, order[i])) cells.push_back(text);
    const std::vector<float> features = features_of(found.rows, order[i]);
    for (const std::size_t group : columns) {
      const std::string* cell = source.find(places[i], groups[group].name);
      add(cell == nullptr ? explain::cell_text(groups[group], features) : *cell);
    }
    rows.push_back(std::move(cells));
  }
  return {{"head", std::move(head)}, {"rows", std::move(rows)}};
}

}  // namespace trainer::report
