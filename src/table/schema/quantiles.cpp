// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/quantiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "trainer/base/philox.h"

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

// Unsigned numbers in the order of the floats whose bits they come from: those of negative ones
// are turned around, and all others are above them.
uint32_t to_key(uint32_t bits) {
  constexpr uint32_t kSign = uint32_t{1} << 31U;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

uint32_t from_key(uint32_t key) {
  constexpr uint32_t kSign = uint32_t{1} << 31U;
  return (key & kSign) != 0 ? key & ~kSign : ~key;
}

// Sorts by the digits of the keys, the lowest first (radix sort): millions of values are sorted
// several times as fast as by comparisons.
void sort_by_digits(Array<float>& values) {
  constexpr uint32_t kDigitBits = 11;
  constexpr uint32_t kNumPasses = 3;
  constexpr size_t kNumDigits = size_t{1} << kDigitBits;
  const auto digit_of = [](uint32_t key, uint32_t pass) {
    return (key >> (pass * kDigitBits)) & (kNumDigits - 1);
  };
  std::array<std::array<size_t, kNumDigits>, kNumPasses> places{};
  Array<uint32_t> keys;
  keys.reserve(values.size());
  for (const float value : values) {
    const uint32_t key = to_key(std::bit_cast<uint32_t>(value));
    keys.push_back(key);
    for (uint32_t pass = 0; pass < kNumPasses; ++pass) ++places[pass][digit_of(key, pass)];
  }
  Array<uint32_t> sorted(keys.size());
  for (uint32_t pass = 0; pass < kNumPasses; ++pass) {
    auto& next = places[pass];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), size_t{0});
    for (const uint32_t key : keys) sorted[next[digit_of(key, pass)]++] = key;
    std::swap(keys, sorted);
  }
  std::transform(keys.begin(), keys.end(), values.begin(),
                 [](uint32_t key) { return std::bit_cast<float>(from_key(key)); });
}

void sort(Array<float>& values) {
  constexpr size_t kManyValues = 10'000;
  if (values.size() < kManyValues) {
    std::sort(values.begin(), values.end());
  } else {
    sort_by_digits(values);
  }
}

}  // namespace

std::vector<float> find_quantiles(Array<float> values, size_t max_count) {
  sort(values);
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

// As std::lower_bound(), without branches: which way it goes cannot be predicted.
std::ptrdiff_t QuantileScale::count_below(float value) const {
  const float* begin = quantiles_.data();
  size_t num_left = quantiles_.size();
  while (num_left > 1) {
    const size_t half = num_left / 2;
    begin += begin[half - 1] < value ? half : 0;
    num_left -= half;
  }
  return begin - quantiles_.data() + (*begin < value ? 1 : 0);
}

QuantileScale::QuantileScale(std::span<const float> quantiles, QuantileScore score)
    : quantiles_(quantiles), scores_(rank_scores(quantiles.size(), score)) {}

float QuantileScale::operator()(float value) const {
  if (quantiles_.front() == quantiles_.back()) return 0;
  const auto first_equal = quantiles_.begin() + count_below(value);
  const bool is_quantile = first_equal != quantiles_.end() && *first_equal == value;
  const auto first_above =
      is_quantile ? std::upper_bound(first_equal, quantiles_.end(), value) : first_equal;
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

// Between the quantiles whose ranks have the scores around it.
float QuantileScale::value_of(float score) const {
  const auto wanted = static_cast<double>(score);
  size_t above = 1;
  while (above < quantiles_.size() && score_of_rank(static_cast<double>(above)) < wanted) ++above;
  if (above >= quantiles_.size()) return quantiles_.back();
  const double low = score_of_rank(static_cast<double>(above - 1));
  const double part = (wanted - low) / (score_of_rank(static_cast<double>(above)) - low);
  const auto from = static_cast<double>(quantiles_[above - 1]);
  const auto to = static_cast<double>(quantiles_[above]);
  return static_cast<float>(from + std::clamp(part, 0.0, 1.0) * (to - from));
}

}  // namespace trainer::data
