// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/explain/partial_dependence.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "trainer/apply/predictor.h"
#include "trainer/table/schema/encode.h"

namespace trainer::explain {
namespace {

constexpr std::size_t kNumDeciles = 11;  // with minimum and maximum
constexpr std::size_t kMaxCategories = 12;

bool is_classification(const data::Schema& schema) {
  return schema.task == config::Task::kClassification;
}

/// The features of one value of a column, and its point, whose means are computed later.
struct GridPoint {
  DependencePoint point;
  std::vector<float> features;
};

/// The features of one column in all rows.
class Cells {
 public:
  Cells(const data::Matrix& features, const ColumnPart& part) : features_(features), part_(part) {}

  std::span<const float> at(int64_t row) const {
    const float* values = std::get<Array<float>>(features_.values).data();
    return {values + row * features_.num_columns + part_.first_feature,
            static_cast<std::size_t>(part_.num_features)};
  }
  int64_t num_rows() const { return features_.num_rows; }
  const data::Column& column() const { return part_.column; }

  bool is_missing(int64_t row) const {
    return column().kind == data::ColumnKind::kNumeric && column().has_missing_indicator &&
           at(row)[1] != 0;
  }

 private:
  const data::Matrix& features_;
  const ColumnPart& part_;
};

/// The distinct numbers of a column in ascending order, or if they are many its deciles.
std::vector<float> find_grid(const Cells& cells) {
  std::vector<float> numbers;
  for (int64_t row = 0; row < cells.num_rows(); ++row) {
    if (!cells.is_missing(row)) numbers.push_back(cells.at(row)[0]);
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<float> grid = numbers;
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  if (grid.size() <= kNumDeciles) return grid;
  grid.clear();
  for (std::size_t i = 0; i < kNumDeciles; ++i) {
    grid.push_back(numbers[i * (numbers.size() - 1) / (kNumDeciles - 1)]);
  }
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  return grid;
}

std::size_t nearest(const std::vector<float>& grid, float number) {
  const auto above = std::lower_bound(grid.begin(), grid.end(), number);
  const auto index = static_cast<std::size_t>(above - grid.begin());
  if (index == 0 || index == grid.size()) return std::min(index, grid.size() - 1);
  return number - grid[index - 1] <= grid[index] - number ? index - 1 : index;
}

std::vector<GridPoint> number_points(const Cells& cells) {
  const data::Column& column = cells.column();
  const std::vector<float> grid = find_grid(cells);
  std::vector<GridPoint> points;
  for (const float number : grid) {
    const float cell = data::decoded_number(column, number);
    GridPoint& added = points.emplace_back();
    added.point.text = data::text_in_file_units(column, cell);
    added.point.value = data::in_file_units(column, cell);
    added.features = {number};
    if (column.has_missing_indicator) added.features.push_back(0);
  }
  const double of_row = 1 / static_cast<double>(cells.num_rows());
  std::optional<GridPoint> missing;
  for (int64_t row = 0; row < cells.num_rows(); ++row) {
    if (!cells.is_missing(row)) {
      points[nearest(grid, cells.at(row)[0])].point.share += of_row;
      continue;
    }
    if (!missing) missing = {{.text = "missing"}, {cells.at(row).begin(), cells.at(row).end()}};
    missing->point.share += of_row;
  }
  if (missing) points.push_back(std::move(*missing));
  return points;
}

/// The categories that occur, the most frequent first; equally frequent ones are sorted by name.
std::vector<GridPoint> category_points(const Cells& cells) {
  std::map<std::string, GridPoint> by_text;
  for (int64_t row = 0; row < cells.num_rows(); ++row) {
    const std::string text = data::decoded_text(cells.column(), cells.at(row));
    GridPoint& found = by_text[text];
    if (found.features.empty()) {
      found = {{.text = text}, {cells.at(row).begin(), cells.at(row).end()}};
    }
    found.point.share += 1 / static_cast<double>(cells.num_rows());
  }
  std::vector<GridPoint> points;
  points.reserve(by_text.size());
  for (auto& [text, point] : by_text) points.push_back(std::move(point));
  std::stable_sort(points.begin(), points.end(), [](const GridPoint& a, const GridPoint& b) {
    return a.point.share > b.point.share;
  });
  return points;
}

/// Predicts all rows with the same cell in one column.
class Replacer {
 public:
  Replacer(const apply::Model& model, data::Matrix features, int64_t num_threads)
      : model_(model), features_(std::move(features)), predictor_(model, num_threads) {}

  const data::Matrix& features() const { return features_; }

  std::vector<double> means(const ColumnPart& part, const std::vector<float>& cell) {
    for (int64_t row = 0; row < features_.num_rows; ++row) {
      float* values = std::get<Array<float>>(features_.values).data();
      std::copy(cell.begin(), cell.end(),
                values + row * features_.num_columns + part.first_feature);
    }
    predictor_.predict(features_, outputs_);
    if (!is_classification(model_.schema)) {
      return mean_of(apply::predicted_values(model_, outputs_), model_.schema.target_names.size());
    }
    const std::size_t num_classes = model_.schema.labels.size();
    std::vector<double> means = mean_of(apply::probabilities(model_, outputs_), num_classes);
    if (num_classes == 2) means.erase(means.begin());
    return means;
  }

 private:
  template <class Value>
  static std::vector<double> mean_of(const std::vector<Value>& values, std::size_t width) {
    std::vector<double> means(width);
    for (std::size_t i = 0; i < values.size(); ++i) {
      means[i % width] += static_cast<double>(values[i]);
    }
    const std::size_t num_rows = values.size() / width;
    for (double& mean : means) mean /= static_cast<double>(num_rows);
    return means;
  }

  const apply::Model& model_;
  data::Matrix features_;
  apply::Predictor predictor_;
  std::vector<float> outputs_;
};

}  // namespace

std::vector<std::string> prediction_names(const data::Schema& schema) {
  if (!is_classification(schema)) return schema.target_names;
  if (schema.labels.size() == 2) return {schema.labels[1]};
  return schema.labels;
}

std::vector<std::size_t> most_changing(const PartialDependence& dependence, std::size_t max_count) {
  const std::vector<DependencePoint>& points = dependence.points;
  const std::size_t count = points.empty() ? 0 : points.front().means.size();
  std::vector<double> changes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto is_less = [i](const DependencePoint& a, const DependencePoint& b) {
      return a.means[i] < b.means[i];
    };
    const auto [low, high] = std::minmax_element(points.begin(), points.end(), is_less);
    changes.push_back(high->means[i] - low->means[i]);
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (count <= max_count) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return changes[a] > changes[b]; });
  order.resize(max_count);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<PartialDependence> partial_dependence(const apply::Model& model,
                                                  const ExplainedRows& rows,
                                                  const ColumnGroup& group, int64_t num_threads) {
  std::vector<PartialDependence> all;
  for (const ColumnPart& part : group.parts) {
    Replacer replacer(model, as_floats(rows.rows.features), num_threads);
    const bool is_numeric = part.column.kind == data::ColumnKind::kNumeric;
    const Cells cells(replacer.features(), part);
    std::vector<GridPoint> points = is_numeric ? number_points(cells) : category_points(cells);
    PartialDependence& found =
        all.emplace_back(PartialDependence{part.column.name, is_numeric, {}, 0});
    if (!is_numeric && points.size() > kMaxCategories) {
      found.num_more = static_cast<int64_t>(points.size() - kMaxCategories);
      points.resize(kMaxCategories);
    }
    for (GridPoint& point : points) {
      point.point.means = replacer.means(part, point.features);
      found.points.push_back(std::move(point.point));
    }
  }
  return all;
}

}  // namespace trainer::explain
