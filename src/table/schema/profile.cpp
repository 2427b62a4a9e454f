// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/profile.h"

#include <algorithm>
#include <cstddef>

namespace trainer::data {

std::size_t sampled_row(std::size_t first, std::size_t step, std::size_t num_rows) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 / the golden ratio
  constexpr unsigned kShift = 33;
  return std::min<std::size_t>(first + ((first * kMultiplier) >> kShift) % step, num_rows - 1);
}

void fit_bins(std::vector<float> values, ColumnProfile& profile) {
  constexpr std::size_t kMaxBins = 10;
  std::sort(values.begin(), values.end());
  profile.edges.clear();
  for (std::size_t i = 1; i < kMaxBins; ++i) {
    const float edge = values[i * (values.size() - 1) / kMaxBins];
    const bool is_new = profile.edges.empty() || edge > profile.edges.back();
    if (is_new && edge < values.back()) profile.edges.push_back(edge);
  }
  profile.shares.assign(profile.edges.size() + 1, 0.0F);
  for (const float value : values) profile.shares[bin_of(profile, value)] += 1;
  for (float& share : profile.shares) share /= static_cast<float>(values.size());
}

}  // namespace trainer::data
