// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/threshold.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "trainer/metrics/classification.h"

namespace trainer {

template <>
std::span<const std::string> enum_names<metrics::DecisionMetric>() {
  static const std::string kNames[] = {"accuracy", "balanced_accuracy", "f1", "binary_f1"};
  return kNames;
}

}  // namespace trainer

namespace trainer::metrics {
namespace {

/// The probability of the second class for a row, and its class.
struct Row {
  double probability;
  int64_t target;
};

double value_of(DecisionMetric metric, const ConfusionMatrix& confusion) {
  switch (metric) {
    case DecisionMetric::kAccuracy:
      return accuracy(confusion);
    case DecisionMetric::kBalancedAccuracy:
      return balanced_accuracy(confusion);
    case DecisionMetric::kF1:
      return macro_f1(confusion);
    case DecisionMetric::kBinaryF1:
      break;
  }
  return class_scores(confusion)[1].f1;
}

std::vector<Row> sorted_rows(const Outputs& logits, std::span<const int64_t> targets) {
  const auto width = static_cast<std::size_t>(logits.num_columns);
  std::vector<Row> rows;
  rows.reserve(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::span<const float> row = logits.values.subspan(i * width, width);
    const double first = width == 1 ? 0.0 : static_cast<double>(row[0]);
    rows.push_back({1 / (1 + std::exp(first - static_cast<double>(row.back()))), targets[i]});
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.probability < b.probability; });
  return rows;
}

}  // namespace

std::optional<ThresholdChoice> best_threshold(const Outputs& logits,
                                              std::span<const int64_t> targets,
                                              DecisionMetric metric) {
  const bool is_finite = std::all_of(logits.values.begin(), logits.values.end(),
                                     [](float logit) { return std::isfinite(logit); });
  const auto num_second = std::count(targets.begin(), targets.end(), 1);
  const auto num_first = std::ssize(targets) - num_second;
  if (!is_finite || num_first == 0 || num_second == 0) return std::nullopt;
  const std::vector<Row> rows = sorted_rows(logits, targets);
  // With a threshold below all probabilities, every row is of the second class.
  ConfusionMatrix confusion{2, {0, num_first, 0, num_second}, {0, 0}};
  std::optional<ThresholdChoice> best;
  const auto consider = [&](double threshold) {
    const double value = value_of(metric, confusion);
    const bool is_nearer =
        best && value == best->value && std::abs(threshold - 0.5) < std::abs(best->threshold - 0.5);
    if (!best || value > best->value || is_nearer) best = {threshold, value};
  };
  // All thresholds in a gap between two probabilities are equally good. Takes 0.5 if the gap
  // contains it, else the middle.
  const auto nearest_in = [](double low, double high) {
    return low < 0.5 && 0.5 < high ? 0.5 : (low + high) / 2;
  };
  consider(nearest_in(0, rows.front().probability));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto of_class = static_cast<std::size_t>(2 * rows[i].target);
    ++confusion.counts[of_class];
    --confusion.counts[of_class + 1];
    const double next = i + 1 < rows.size() ? rows[i + 1].probability : 1.0;
    if (next > rows[i].probability) consider(nearest_in(rows[i].probability, next));
  }
  return best;
}

}  // namespace trainer::metrics
