// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "trainer/base/memory/array.h"
#include "trainer/base/parallel/parallel.h"

namespace trainer::data {

/// Those `rows` of `values` `[n, width]`, in their order.
template <class T>
Array<T> take_rows(const Array<T>& values, size_t width, std::span<const int64_t> rows) {
  Array<T> taken;
  taken.resize_for_overwrite(rows.size() * width);
  constexpr size_t kRowsAtOnce = 65'536;
  parallel_for_ranges(rows.size(), kRowsAtOnce, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      std::copy_n(values.begin() + static_cast<size_t>(rows[i]) * width, width,
                  taken.begin() + i * width);
    }
  });
  return taken;
}

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
