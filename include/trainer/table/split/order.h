// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace trainer::data {

struct Matrix;

/// How the rows of a split are shuffled: all together if `window` holds them, else blocks of rows
/// that are next to each other, and then the rows of each window of blocks.
struct OrderOptions {
  int64_t num_rows = 0;
  int64_t window = 1;  // rows, >= 1
  int64_t block = 1;   // rows, 1 .. window
  uint64_t seed = 0;

  bool has_windows() const { return window < num_rows; }
};

/// The options for `features`, with windows of `window` rows; 0: of what 512 MiB hold, and at most
/// 2,097,152 rows.
OrderOptions order_options(const Matrix& features, int64_t window, uint64_t seed);

/// A piece of the order in which an epoch visits the rows.
struct OrderPart {
  int64_t begin = 0;          // its place in the order
  std::vector<int64_t> rows;  // indices of rows

  int64_t end() const { return begin + static_cast<int64_t>(rows.size()); }
};

/// The window that has place `position` of the order, 0 .. num_rows - 1; the whole order, whose end
/// is 0, if there are no rows. All windows of an epoch, one after the other, are a permutation of
/// 0 .. num_rows - 1. A pure function of its arguments, the same on every platform, so that nothing
/// but the position has to be saved to continue an epoch.
OrderPart order_part(const OrderOptions& options, int64_t epoch, int64_t position);

}  // namespace trainer::data
