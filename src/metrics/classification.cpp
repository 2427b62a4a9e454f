// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/classification.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace trainer::metrics {
namespace {

double ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::span<const float> row_of(const Outputs& outputs, std::size_t row) {
  const auto width = static_cast<std::size_t>(outputs.num_columns);
  return outputs.values.subspan(row * width, width);
}

bool are_finite(std::span<const float> logits) {
  return std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); });
}

/// Returns the logarithm of the odds of the second of two classes.
double log_odds(std::span<const float> logits) {
  const double first = logits.size() == 1 ? 0.0 : static_cast<double>(logits[0]);
  return static_cast<double>(logits.back()) - first;
}

int64_t predicted_class(std::span<const float> logits, double log_odds_threshold) {
  if (!are_finite(logits)) return kNoClass;
  if (logits.size() <= 2) return log_odds(logits) > log_odds_threshold ? 1 : 0;
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

/// log(sum of exp(logits)) of a row in two parts, the largest logit and the rest, so that no digits
/// are lost near the probabilities 0 and 1.
struct LogSum {
  double largest = 0;
  double rest = 0;
};

LogSum log_sum(std::span<const float> logits) {
  const auto at_largest = std::max_element(logits.begin(), logits.end());
  const auto largest = static_cast<double>(*at_largest);
  double others = 0;
  for (auto x = logits.begin(); x != logits.end(); ++x) {
    if (x != at_largest) others += std::exp(static_cast<double>(*x) - largest);
  }
  return {largest, std::log1p(others)};
}

/// Returns the logarithm of the softmax probability of a logit.
double log_probability(float logit, const LogSum& sum) {
  return static_cast<double>(logit) - sum.largest - sum.rest;
}

/// Computes the sums of all rows once, because each class needs them.
std::vector<LogSum> log_sums(const Outputs& logits) {
  std::vector<LogSum> sums;
  sums.reserve(static_cast<std::size_t>(logits.num_rows()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(logits.num_rows()); ++i) {
    sums.push_back(log_sum(row_of(logits, i)));
  }
  return sums;
}

/// Returns the scores that rank the rows for one class.
std::vector<double> log_probabilities(const Outputs& logits, const std::vector<LogSum>& sums,
                                      std::size_t label) {
  std::vector<double> scores;
  scores.reserve(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    scores.push_back(log_probability(row_of(logits, i)[label], sums[i]));
  }
  return scores;
}

std::vector<double> binary_scores(const Outputs& logits) {
  std::vector<double> scores;
  scores.reserve(static_cast<std::size_t>(logits.num_rows()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(logits.num_rows()); ++i) {
    scores.push_back(log_odds(row_of(logits, i)));
  }
  return scores;
}

/// Returns the indices of the rows in ascending order of their scores.
std::vector<std::size_t> ascending(const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  return order;
}

// Computes the AUROC from the sum of the ranks of the rows of `label`. Rows with equal scores get
// the mean of their ranks.
std::optional<double> area(const std::vector<double>& scores, std::span<const int64_t> targets,
                           int64_t label) {
  const std::vector<std::size_t> order = ascending(scores);
  double rank_sum = 0;
  double num_of_class = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    double num_here = 0;
    while (end < order.size() && scores[order[end]] == scores[order[begin]]) {
      if (targets[order[end]] == label) ++num_here;
      ++end;
    }
    rank_sum += num_here * static_cast<double>(begin + 1 + end) / 2;
    num_of_class += num_here;
    begin = end;
  }
  const double num_others = static_cast<double>(scores.size()) - num_of_class;
  if (num_of_class == 0 || num_others == 0) return std::nullopt;
  return (rank_sum - num_of_class * (num_of_class + 1) / 2) / (num_of_class * num_others);
}

// Computes the average precision. Rows with equal scores are one step of the curve.
std::optional<double> average_precision(const std::vector<double>& scores,
                                        std::span<const int64_t> targets, int64_t label) {
  const std::vector<std::size_t> order = ascending(scores);
  double sum = 0;
  double num_of_class = 0;
  for (std::size_t end = order.size(); end > 0;) {
    const double score = scores[order[end - 1]];
    double num_here = 0;
    for (; end > 0 && scores[order[end - 1]] == score; --end) {
      if (targets[order[end - 1]] == label) ++num_here;
    }
    num_of_class += num_here;
    sum += num_here * num_of_class / static_cast<double>(order.size() - end);
  }
  if (num_of_class == 0) return std::nullopt;
  return sum / num_of_class;
}

using Area = std::optional<double> (*)(const std::vector<double>&, std::span<const int64_t>,
                                       int64_t);

// Returns the area for the second of two classes; with more classes, the mean over those that have
// an area.
std::optional<double> mean_area(const Outputs& logits, std::span<const int64_t> targets,
                                Area compute_area) {
  if (!are_finite(logits.values)) return std::nullopt;
  if (logits.num_columns <= 2) return compute_area(binary_scores(logits), targets, 1);
  double sum = 0;
  double num_classes = 0;
  const std::vector<LogSum> sums = log_sums(logits);
  const std::set<int64_t> present(targets.begin(), targets.end());  // other classes have no area
  for (const int64_t label : present) {
    const auto one = compute_area(log_probabilities(logits, sums, static_cast<std::size_t>(label)),
                                  targets, label);
    if (!one) continue;
    sum += *one;
    ++num_classes;
  }
  if (num_classes == 0) return std::nullopt;
  return sum / num_classes;
}

}  // namespace

std::vector<int64_t> predicted_classes(const Outputs& logits) {
  std::vector<int64_t> classes;
  classes.reserve(static_cast<std::size_t>(logits.num_rows()));
  const double log_odds_threshold = std::log(logits.threshold / (1 - logits.threshold));
  for (std::size_t i = 0; i < static_cast<std::size_t>(logits.num_rows()); ++i) {
    classes.push_back(predicted_class(row_of(logits, i), log_odds_threshold));
  }
  return classes;
}

ConfusionMatrix confusion_matrix(std::span<const int64_t> targets,
                                 std::span<const int64_t> predicted, int64_t num_classes) {
  ConfusionMatrix matrix{num_classes,
                         std::vector<int64_t>(static_cast<std::size_t>(num_classes * num_classes)),
                         std::vector<int64_t>(static_cast<std::size_t>(num_classes))};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (predicted[i] == kNoClass) {
      ++matrix.without_class[static_cast<std::size_t>(targets[i])];
    } else {
      ++matrix.counts[static_cast<std::size_t>(targets[i] * num_classes + predicted[i])];
    }
  }
  return matrix;
}

std::vector<ClassScores> class_scores(const ConfusionMatrix& confusion) {
  std::vector<ClassScores> scores;
  scores.reserve(static_cast<std::size_t>(confusion.num_classes));
  for (int64_t label = 0; label < confusion.num_classes; ++label) {
    int64_t num_rows = confusion.without_class[static_cast<std::size_t>(label)];
    int64_t num_predicted = 0;
    for (int64_t other = 0; other < confusion.num_classes; ++other) {
      num_rows += confusion.at(label, other);
      num_predicted += confusion.at(other, label);
    }
    const int64_t right = confusion.at(label, label);
    scores.push_back({ratio(right, num_predicted), ratio(right, num_rows),
                      ratio(2 * right, num_predicted + num_rows), num_rows});
  }
  return scores;
}

double accuracy(const ConfusionMatrix& confusion) {
  int64_t right = 0;
  int64_t num_rows = 0;
  for (int64_t label = 0; label < confusion.num_classes; ++label) {
    right += confusion.at(label, label);
    num_rows += confusion.without_class[static_cast<std::size_t>(label)];
  }
  num_rows = std::accumulate(confusion.counts.begin(), confusion.counts.end(), num_rows);
  return ratio(right, num_rows);
}

double macro_f1(const ConfusionMatrix& confusion) {
  const std::vector<ClassScores> scores = class_scores(confusion);
  double sum = 0;
  double num_classes = 0;
  for (int64_t label = 0; label < confusion.num_classes; ++label) {
    bool occurs = scores[static_cast<std::size_t>(label)].num_rows > 0;
    for (int64_t other = 0; other < confusion.num_classes; ++other) {
      occurs = occurs || confusion.at(other, label) > 0;
    }
    if (!occurs) continue;
    sum += scores[static_cast<std::size_t>(label)].f1;
    ++num_classes;
  }
  return num_classes == 0 ? 0 : sum / num_classes;
}

double balanced_accuracy(const ConfusionMatrix& confusion) {
  double sum = 0;
  double num_classes = 0;
  for (const ClassScores& one : class_scores(confusion)) {
    if (one.num_rows == 0) continue;
    sum += one.recall;
    ++num_classes;
  }
  return num_classes == 0 ? 0 : sum / num_classes;
}

double log_loss(const Outputs& logits, std::span<const int64_t> targets) {
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::span<const float> row = row_of(logits, i);
    const auto target = static_cast<std::size_t>(targets[i]);
    // The two logits that a single logit stands for.
    const std::array<float, 2> both = {0, row.front()};
    const std::span<const float> logits_of_row =
        row.size() == 1 ? std::span<const float>(both) : row;
    sum -= log_probability(logits_of_row[target], log_sum(logits_of_row));
  }
  return sum / static_cast<double>(targets.size());
}

double top_k_accuracy(const Outputs& logits, std::span<const int64_t> targets, int64_t k) {
  int64_t right = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::span<const float> row = row_of(logits, i);
    const auto target = static_cast<std::size_t>(targets[i]);
    int64_t num_larger = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const bool is_first_of_equals = j < target && row[j] == row[target];
      if (row[j] > row[target] || is_first_of_equals) ++num_larger;
    }
    if (num_larger < k && are_finite(row)) ++right;
  }
  return ratio(right, static_cast<int64_t>(targets.size()));
}

std::optional<double> auroc(const Outputs& logits, std::span<const int64_t> targets) {
  return mean_area(logits, targets, area);
}

std::optional<double> pr_auc(const Outputs& logits, std::span<const int64_t> targets) {
  return mean_area(logits, targets, average_precision);
}

namespace {

/// The numbers of rows whose score is at least that of a point of the curve.
struct Above {
  int64_t positive = 0;
  int64_t negative = 0;
};

/// Returns the counts for each different score, from the largest down.
std::vector<Above> count_above(std::span<const double> scores,
                               std::span<const uint8_t> is_positive) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto score = [&](std::size_t i) { return std::isfinite(scores[i]) ? scores[i] : kLowest; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
  std::vector<Above> counts;
  Above above;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (is_positive[order[i]] != 0 ? above.positive : above.negative) += 1;
    if (i + 1 == order.size() || score(order[i + 1]) != score(order[i])) counts.push_back(above);
  }
  return counts;
}

double share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Curve roc_curve(std::span<const double> scores, std::span<const uint8_t> is_positive) {
  const std::vector<Above> counts = count_above(scores, is_positive);
  if (counts.empty() || counts.back().positive == 0 || counts.back().negative == 0) return {};
  Curve curve{.x = {0}, .y = {0}};
  for (const Above& above : counts) {
    curve.x.push_back(share(above.negative, counts.back().negative));
    curve.y.push_back(share(above.positive, counts.back().positive));
  }
  return curve;
}

Curve precision_recall_curve(std::span<const double> scores, std::span<const uint8_t> is_positive) {
  const std::vector<Above> counts = count_above(scores, is_positive);
  if (counts.empty() || counts.back().positive == 0) return {};
  Curve curve;
  for (const Above& above : counts) {
    curve.x.push_back(share(above.positive, counts.back().positive));
    curve.y.push_back(share(above.positive, above.positive + above.negative));
  }
  return curve;
}

std::vector<ReliabilityBin> reliability(std::span<const double> probabilities,
                                        std::span<const uint8_t> happened, int64_t num_bins) {
  std::vector<ReliabilityBin> bins(static_cast<std::size_t>(num_bins));
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double p = probabilities[i];
    if (!std::isfinite(p)) continue;
    const auto place = static_cast<int64_t>(p * static_cast<double>(num_bins));
    ReliabilityBin& bin =
        bins[static_cast<std::size_t>(std::clamp<int64_t>(place, 0, num_bins - 1))];
    bin.mean_probability += p;
    bin.frequency += happened[i] != 0 ? 1 : 0;
    ++bin.num_rows;
  }
  std::erase_if(bins, [](const ReliabilityBin& bin) { return bin.num_rows == 0; });
  for (ReliabilityBin& bin : bins) {
    bin.mean_probability /= static_cast<double>(bin.num_rows);
    bin.frequency /= static_cast<double>(bin.num_rows);
  }
  return bins;
}

}  // namespace trainer::metrics

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
