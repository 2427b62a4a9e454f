// SPDX-License-Identifier: Apache-2.0
#include "devices/noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

namespace trainer::bench {
namespace {

constexpr double kEquallyFast = 1.05;
constexpr std::size_t kMinRounds = 5;  // with fewer, agreement may be chance
constexpr double kMaxLostShare = 0.1;
constexpr double kMaxSpread = 0.25;

// How many of `n` numbers may be left out at either end, so that the others still enclose the
// median of what they are drawn from with a probability of 95 %: a quantile of coin tosses.
std::size_t num_exceptions(std::size_t n) {
  const double all = std::pow(2.0, static_cast<double>(n));
  double ways = 1;  // to choose k of n
  double below = 0;
  std::size_t k = 0;
  for (; k < n; ++k) {
    below += ways;
    if (2 * below / all > 0.05) break;
    ways *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return k == 0 ? 0 : k - 1;
}

}  // namespace

RelativeTime relative_time(const Row& row, const Row& other) {
  const std::size_t n = std::min(row.round_medians.size(), other.round_medians.size());
  if (n == 0) return {};
  std::vector<double> ratios;
  ratios.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    ratios.push_back(row.round_medians[i] / other.round_medians[i]);
  }
  std::sort(ratios.begin(), ratios.end());
  const std::size_t left_out = num_exceptions(n);
  return {quantile(ratios, 0.5), ratios[left_out], ratios[n - 1 - left_out]};
}

Order compare_speed(const Row& row, const Row& other) {
  const RelativeTime time = relative_time(row, other);
  if (time.median * kEquallyFast < 1 && time.high < 1) return Order::kFaster;
  if (time.median > kEquallyFast && time.low > 1) return Order::kSlower;
  const bool is_equal = time.low * kEquallyFast >= 1 && time.high <= kEquallyFast;
  return is_equal ? Order::kEqual : Order::kUnclear;
}

std::string why_incomparable(std::span<const Row> workload) {
  double lost = 0;
  std::size_t num_rounds = kMinRounds;
  for (const Row& row : workload) {
    lost = std::max(lost, row.lost_share.value_or(0));
    num_rounds = std::min(num_rounds, row.round_medians.size());
  }
  if (lost > kMaxLostShare) {
    return fmt::format("other programs used the CPU (steps waited for it {:.0f} % of the time)",
                       100 * std::min(lost, 1.0));
  }
  if (num_rounds < kMinRounds) {
    return fmt::format("{} cannot show the noise; use --steps {} or more",
                       counted(static_cast<int64_t>(num_rounds), "round"), kMinRounds);
  }
  return "";
}

std::string why_unsteady(const Row& row) {
  const Summary rounds = summarize(row.round_medians);
  const double spread = (rounds.upper_quartile - rounds.lower_quartile) / rounds.median;
  if (spread <= kMaxSpread) return "";
  return fmt::format("the times of {} changed by {:.0f} % from round to round",
                     config_name(row.setting), 100 * spread);
}

}  // namespace trainer::bench
