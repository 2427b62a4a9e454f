// SPDX-License-Identifier: Apache-2.0
// Products in bf16 with BFMMLA of Arm (FEAT_BF16). What it does is in the Arm Architecture
// Reference Manual for A-profile, at BFMMLA and in its function BFDotAdd.
//
// BFMMLA multiplies 2 rows of 4 depths with 2 columns. To each element of C it adds the products of
// the first two depths, then those of the other two: the two products are added up, then their sum
// to the element. Both additions round to odd (an inexact result has its last bit set, one that is
// too large is infinite), and subnormal numbers are zeros and become zeros. That holds with
// FEAT_EBF16 too, as long as FPCR.EBF is 0, as Linux and macOS leave it. So the bits differ from
// those of pairs of fused multiply-adds, are the same on all machines with BFMMLA, and depend on
// the depths of a product only, not on its rows and columns. BFCVTN rounds operands to the nearest
// even.
#ifdef __aarch64__

#include <arm_neon.h>

#define TRAINER_ISA neon_bf16
#include "nn/cpu/kernel_table.h"
#include "nn/cpu/multiply_blocks.h"
#include "nn/cpu/pack.h"
#include "nn/cpu/vector.h"

namespace trainer::cpu {
namespace neon_bf16 {

inline constexpr int64_t kSide = 8;  // rows and columns of C that are computed together
inline constexpr int64_t kMatrixRowBlock = 224;

/// Packed rows of A; `stride` elements lie between blocks of 4 depths.
struct MatrixBlock {
  const bfloat16_t* data = nullptr;
  int64_t stride = 0;
};

inline int64_t whole_sides(int64_t count) { return (count + kSide - 1) / kSide * kSide; }

// Packs items (rows of A or columns of B) with adjacent depths as [depth / 4, items / 2, 2, 4],
// with zeros for missing items and depths.
inline void pack_apart(const float* from, int64_t item_stride, int64_t num_items, int64_t depth,
                       bfloat16_t* packed) {
  const int64_t stride = 4 * whole_sides(num_items);
  for (int64_t i = 0; i < whole_sides(num_items); i += 2) {
    const auto at = [&](int64_t item, int64_t k) {
      return float32x4_t(item < num_items ? load_some(from + item * item_stride + k, depth - k)
                                          : Vector{});
    };
    for (int64_t k = 0; k < depth; k += 4) {
      vst1q_bf16(packed + k / 4 * stride + i * 4,
                 vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(at(i, k)), at(i + 1, k)));
    }
  }
}

// Rounds 4 items at two depths to bf16, and puts the two depths of each item next to each other.
inline uint32x4_t pairs_of_items(float32x4_t even, float32x4_t odd) {
  const auto rounded = [](float32x4_t x) { return vreinterpretq_u16_bf16(vcvtq_low_bf16_f32(x)); };
  return vreinterpretq_u32_u16(vzip1q_u16(rounded(even), rounded(odd)));
}

// Packs items that are adjacent at each depth, in the same layout.
inline void pack_adjacent(const float* from, int64_t depth_stride, int64_t num_items, int64_t depth,
                          bfloat16_t* packed) {
  const int64_t stride = 4 * whole_sides(num_items);
  for (int64_t k = 0; k < depth; k += 4) {
    for (int64_t i = 0; i < whole_sides(num_items); i += 4) {
      const auto at = [&](int64_t d) {
        return float32x4_t(i < num_items && d < depth
                               ? load_some(from + d * depth_stride + i, num_items - i)
                               : Vector{});
      };
      const uint32x4_t first = pairs_of_items(at(k), at(k + 1));
      const uint32x4_t second = pairs_of_items(at(k + 2), at(k + 3));
      bfloat16_t* to = packed + k / 4 * stride + i * 4;
      vst1q_bf16(to, vreinterpretq_bf16_u32(vzip1q_u32(first, second)));
      vst1q_bf16(to + 8, vreinterpretq_bf16_u32(vzip2q_u32(first, second)));
    }
  }
}

// One of the two strides must be 1.
inline void pack_items(const float* from, int64_t item_stride, int64_t depth_stride,
                       int64_t num_items, int64_t depth, bfloat16_t* packed) {
  if (depth_stride == 1) {
    pack_apart(from, item_stride, num_items, depth, packed);
  } else {
    pack_adjacent(from, depth_stride, num_items, depth, packed);
  }
}

/// Tells multiply_blocks() how to pack bf16 operands for BFMMLA. Elements count blocks of 4 depths.
struct MatrixOperands {
  using Element = bfloat16_t;

  static int64_t num_elements(int64_t depth) { return (depth + 3) / 4; }
  static int64_t panel_stride(int64_t num_columns) { return 4 * whole_sides(num_columns); }
  static bool packs(const Product&, int64_t, int64_t) { return true; }

  static Panel<Element> panel(const Product& p, int64_t column, int64_t num_columns, int64_t begin,
                              int64_t depth, Element* packed) {
    pack_items(p.b + begin * p.b_depth + column * p.b_column, p.b_column, p.b_depth, num_columns,
               depth, packed);
    return {packed, panel_stride(num_columns)};
  }

  static MatrixBlock block(const Product& p, int64_t row, int64_t num_rows, int64_t begin,
                           int64_t depth, Element* packed) {
    pack_items(p.a + row * p.a_row + begin * p.a_depth, p.a_row, p.a_depth, num_rows, depth,
               packed);
    return {packed, 4 * whole_sides(num_rows)};
  }
};

// Computes kSide x kSide elements of C, in registers of 2 x 2 elements.
inline void multiply_side(const bfloat16_t* a, int64_t a_stride, const bfloat16_t* b,
                          int64_t b_stride, int64_t num_quads, float* c, int64_t c_row,
                          bool accumulate) {
  constexpr int64_t kPairs = kSide / 2;
  float32x4_t sums[kPairs][kPairs] = {};
  for (int64_t i = 0; accumulate && i < kPairs; ++i) {
    for (int64_t j = 0; j < kPairs; ++j) {
      const float* from = c + 2 * i * c_row + 2 * j;
      sums[i][j] = vcombine_f32(vld1_f32(from), vld1_f32(from + c_row));
    }
  }
  for (int64_t k = 0; k < num_quads; ++k) {
    bfloat16x8_t columns[kPairs];
#pragma GCC unroll 4
    for (int64_t j = 0; j < kPairs; ++j) columns[j] = vld1q_bf16(b + k * b_stride + j * 8);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kPairs; ++i) {
      const bfloat16x8_t rows = vld1q_bf16(a + k * a_stride + i * 8);
#pragma GCC unroll 4
      for (int64_t j = 0; j < kPairs; ++j) {
        sums[i][j] = vbfmmlaq_f32(sums[i][j], rows, columns[j]);
      }
    }
  }
  for (int64_t i = 0; i < kPairs; ++i) {
    for (int64_t j = 0; j < kPairs; ++j) {
      float* to = c + 2 * i * c_row + 2 * j;
      vst1_f32(to, vget_low_f32(sums[i][j]));
      vst1_f32(to + c_row, vget_high_f32(sums[i][j]));
    }
  }
}

inline void multiply_panel(const MatrixBlock& block, int64_t num_rows,
                           const Panel<bfloat16_t>& panel, int64_t num_columns, int64_t num_quads,
                           float* c, int64_t c_row, bool accumulate, NextPanel next) {
  for (int64_t i = 0; i < num_rows; i += kSide) {
    next.fetch(smaller(kSide, num_rows - i), num_rows - i);
    for (int64_t j = 0; j < num_columns; j += kSide) {
      const auto multiply_to = [&](float* to, int64_t to_row) {
        multiply_side(block.data + i * 4, block.stride, panel.data + j * 4, panel.stride, num_quads,
                      to, to_row, accumulate);
      };
      const int64_t rows = smaller(kSide, num_rows - i);
      const int64_t columns = smaller(kSide, num_columns - j);
      float* to = c + i * c_row + j;
      if (rows == kSide && columns == kSide) {
        multiply_to(to, c_row);
      } else {
        multiply_in_buffer<kSide, kSide>(rows, columns, to, c_row, accumulate, multiply_to);
      }
    }
  }
}

inline void multiply_matrices(const Product& p, float* scratch) {
  multiply_blocks<MatrixOperands, kMatrixRowBlock>(p, scratch);
}

}  // namespace neon_bf16

extern void (*const kMultiplyNeonBf16)(const Product& product,
                                       float* scratch) = neon_bf16::multiply_matrices;

}  // namespace trainer::cpu

#endif
