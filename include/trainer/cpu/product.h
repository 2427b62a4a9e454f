// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::cpu {

/// Whether a result replaces what is in its memory or is added to it.
enum class Accumulate { kNo, kYes };

/// Where the products of a pass share the packed panels of B: the one that needs a panel first
/// packs it for all. One that needs a panel while another packs it does not wait, but packs its
/// own.
struct SharedPanels {
  float* memory = nullptr;     // null: each product packs its own
  uint32_t* states = nullptr;  // [depth blocks, panels of B]
  uint32_t pass = 0;        // even; a panel is packed if its state is this, being packed if less 1
  int64_t num_panels = 0;   // of B
  int64_t first_panel = 0;  // of the product
  int64_t start = 0;        // the panel of the product to begin with: another one in each thread
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
