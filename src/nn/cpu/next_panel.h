// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/product.h"

#include "nn/cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

/// Prefetches the panel of B that is packed next into the second level cache, while A is multiplied
/// with the panel before it.
class NextPanel {
 public:
  NextPanel() = default;
  NextPanel(const Product& p, int64_t column, int64_t begin, int64_t depth)
      : next_(p.b + begin * p.b_depth + column * p.b_column) {
    const int64_t num_columns = smaller(kPanelColumns, p.num_columns - column);
    const bool has_row_per_depth = p.b_column == 1;
    num_rows_ = has_row_per_depth ? depth : num_columns;
    row_size_ = has_row_per_depth ? num_columns : depth;
    stride_ = has_row_per_depth ? p.b_depth : p.b_column;
  }

  /// Prefetches the fraction rows / rows_left of the rest of the panel, so that it is complete when
  /// all rows of A are done.
  void fetch(int64_t rows, int64_t rows_left) {
    constexpr int64_t kCacheLine = 64 / sizeof(float);
    const int64_t count = (num_rows_ * rows + rows_left - 1) / rows_left;
    for (int64_t i = 0; i < count; ++i, next_ += stride_) {
      for (int64_t j = 0; j < row_size_; j += kCacheLine) {
        __builtin_prefetch(next_ + j, /*write=*/0, /*locality=*/2);
      }
    }
    num_rows_ -= count;
  }

 private:
  const float* next_ = nullptr;
  int64_t num_rows_ = 0;  // rows of adjacent numbers that are still to prefetch
  int64_t row_size_ = 0;
  int64_t stride_ = 0;
};

// Returns what to prefetch; nothing if that does not pay. By measurement it pays only if many rows
// of A are multiplied with the panel. Weights in shared panels are in the cache anyway.
template <class Operands>
NextPanel next_panel(const Product& p, int64_t num_rows, int64_t column, int64_t begin,
                     int64_t depth) {
  constexpr int64_t kManyRows = 16 * kTileRows;
  const bool pays = p.shared.memory == nullptr && num_rows >= kManyRows &&
                    Operands::packs(p, kPanelColumns, depth);
  if (!pays || column >= p.num_columns) return {};
  return {p, column, begin, depth};
}

}  // namespace trainer::cpu::TRAINER_ISA
