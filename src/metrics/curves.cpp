// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/curves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace trainer::metrics {
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
