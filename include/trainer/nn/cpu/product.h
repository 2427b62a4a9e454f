// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::cpu {

/// Whether a result replaces the content of its memory or is added to it.
enum class Accumulate { kNo, kYes };

/// Packed panels of B that the products of a pass share: the first product that needs a panel packs
/// it for all. A product that needs a panel while another one packs it does not wait, but packs a
/// copy of its own.
struct SharedPanels {
  float* memory = nullptr;     // null: each product packs its own
  uint32_t* states = nullptr;  // [depth blocks, panels of B]
  /// Even; a panel with the state `pass` is packed, with `pass - 1` it is being packed.
  uint32_t pass = 0;
  int64_t num_panels = 0;   // number of panels of the whole B
  int64_t first_panel = 0;  // index of the first panel of this product
  int64_t start = 0;        // the panel of this product to begin with; differs between threads
};

/// C = A B, or C + A B: `a` is `[rows, depth]`, `b` `[depth, columns]`, `c` `[rows, columns]`.
struct Product {
  int64_t num_rows = 0;
  int64_t num_columns = 0;
  int64_t depth = 0;
  const float* a = nullptr;
  int64_t a_row = 0;  // strides in elements; one of a_row and a_depth is 1
  int64_t a_depth = 1;
  const float* b = nullptr;
  int64_t b_depth = 0;  // one of b_depth and b_column is 1
  int64_t b_column = 1;
  float* c = nullptr;
  int64_t c_row = 0;
  Accumulate accumulate = Accumulate::kNo;
  SharedPanels shared = {};
};

}  // namespace trainer::cpu
