// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace trainer::data {

/// The median of at least one value; of an even number the lower one of the middle two, so that it
/// is always one of them. Reorders `values`.
inline double lower_median(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace trainer::data
