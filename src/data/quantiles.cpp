// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/quantiles.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "trainer/core/normal_quantile.h"

namespace trainer::data {
namespace {

std::vector<double> compute_scores(size_t num_quantiles, QuantileScore score) {
  constexpr double kSmallest = 1e-7;
  if (num_quantiles == 1) return {0};
  const size_t last = 2 * (num_quantiles - 1);
  std::vector<double> scores;
  for (size_t i = 0; i <= last; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(last);
    scores.push_back(score == QuantileScore::kRank
                         ? 2 * part - 1
                         : normal_quantile(std::clamp(part, kSmallest, 1 - kSmallest)));
  }
  return scores;
}

}  // namespace

std::vector<float> find_quantiles(Array<float> values, size_t max_count) {
  std::sort(values.begin(), values.end());
  if (values.size() <= max_count) return {values.begin(), values.end()};
  const size_t last = max_count - 1;
  std::vector<float> quantiles;
  quantiles.reserve(max_count);
  for (size_t i = 0; i <= last; ++i) {
    // Whole numbers as far as possible, so that the ends are exact.
    const size_t numerator = i * (values.size() - 1);
    const size_t below = numerator / last;
    const double fraction = static_cast<double>(numerator % last) / static_cast<double>(last);
    const auto low = static_cast<double>(values[below]);
    const double high = fraction == 0 ? low : static_cast<double>(values[below + 1]);
    quantiles.push_back(static_cast<float>(low + fraction * (high - low)));
  }
  return quantiles;
}

size_t max_quantiles(QuantileScore score, size_t num_rows) {
  constexpr size_t kRanks = 100;
  constexpr size_t kRowsPerQuantile = 30;
  return score == QuantileScore::kRank ? kRanks
                                       : std::clamp<size_t>(num_rows / kRowsPerQuantile, 10, 1000);
}

std::span<const double> rank_scores(size_t num_quantiles, QuantileScore score) {
  static std::mutex mutex;
  static std::map<std::pair<size_t, QuantileScore>, std::vector<double>> known;
  const std::scoped_lock lock(mutex);
  std::vector<double>& scores = known[{num_quantiles, score}];
  if (scores.empty()) scores = compute_scores(num_quantiles, score);
  return scores;
}

QuantileScale::QuantileScale(std::span<const float> quantiles, QuantileScore score)
    : quantiles_(quantiles), scores_(rank_scores(quantiles.size(), score)) {}

float QuantileScale::operator()(float value) const {
  if (quantiles_.front() == quantiles_.back()) return 0;
  const auto [first_equal, first_above] =
      std::equal_range(quantiles_.begin(), quantiles_.end(), value);
  const auto num_below = static_cast<double>(first_equal - quantiles_.begin());
  double score = scores_.front();
  if (first_equal != first_above) {
    score = score_of_rank(num_below + static_cast<double>(first_above - first_equal - 1) / 2);
  } else if (first_above == quantiles_.end()) {
    score = scores_.back();
  } else if (first_equal != quantiles_.begin()) {
    const auto low = static_cast<double>(*(first_equal - 1));
    const auto high = static_cast<double>(*first_above);
    const double part = (static_cast<double>(value) - low) / (high - low);
    const double below = score_of_rank(num_below - 1);
    score = below + part * (score_of_rank(num_below) - below);
  }
  return static_cast<float>(score);
}

}  // namespace trainer::data
