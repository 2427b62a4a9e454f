// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainer::data {

/// Drops all rows of `values` `[n, width]` but `rows`, which ascend, without a second copy.
template <class Values>
void keep_rows(Values& values, size_t width, std::span<const int64_t> rows) {
  const auto num_cells = static_cast<std::ptrdiff_t>(width);
  auto kept_end = values.begin();
  for (const int64_t row : rows) {
    const auto begin = values.begin() + row * num_cells;
    // Rows ascend, so a row never moves over one that is still needed.
    kept_end =
        begin == kept_end ? begin + num_cells : std::move(begin, begin + num_cells, kept_end);
  }
  values.resize(static_cast<size_t>(kept_end - values.begin()));
}

}  // namespace trainer::data
