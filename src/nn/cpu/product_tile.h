// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "nn/cpu/vector.h"

// The inner kernel of a product: a tile of C stays in registers while columns of A are multiplied
// with rows of B. Each element of C is one chain of multiply-adds in the order of the depth,
// whichever thread computes it.
namespace trainer::cpu::TRAINER_ISA {

/// Whether the elements of a column of A are contiguous.
enum class Rows { kAdjacent, kApart };

// A fused multiply-add, with one rounding, if the instruction set has one. It is explicit, because
// compilers otherwise decide differently from function to function.
inline Vector multiply_add(float a, Vector b, Vector sum) {
#if defined(TRAINER_EMULATES_AMX)
  return sum + a * b;  // never called; the vectors may be wider than those of the machine
#elif defined(__AVX512F__)
  return Vector(_mm512_fmadd_ps(_mm512_set1_ps(a), __m512(b), __m512(sum)));
#elif defined(__AVX2__)
  return Vector(_mm256_fmadd_ps(_mm256_set1_ps(a), __m256(b), __m256(sum)));
#elif defined(__aarch64__)
  return Vector(vfmaq_n_f32(float32x4_t(sum), float32x4_t(b), a));
#else
  return sum + a * b;
#endif
}

// Adds both products of each pair, that of the odd depth first: two multiply-adds, each with one
// rounding.
#ifdef __AVX512BF16__
inline Vector multiply_add(Pair a, IndexVector b, Vector sum) {
  return Vector(_mm512_dpbf16_ps(__m512(sum), __m512bh(_mm512_set1_epi32(a)), __m512bh(b)));
}
#endif

/// The sums of a tile, which stay in registers only if all loops over them are unrolled.
template <int64_t NumRows, int64_t NumVectors>
struct TileSums {
  Vector of[NumRows][NumVectors];

  void load_from(const float* c, int64_t stride) {
#pragma GCC unroll 16
    for (int64_t i = 0; i < NumRows; ++i) {
#pragma GCC unroll 4
      for (int64_t v = 0; v < NumVectors; ++v) of[i][v] = load(c + i * stride + v * kLanes);
    }
  }

  void store_to(float* c, int64_t stride) const {
#pragma GCC unroll 16
    for (int64_t i = 0; i < NumRows; ++i) {
#pragma GCC unroll 4
      for (int64_t v = 0; v < NumVectors; ++v) store(c + i * stride + v * kLanes, of[i][v]);
    }
  }
};

/// Computes a tile of C. `Element` is float, or Pair, which holds two depths.
template <class Element, int64_t NumRows, int64_t NumVectors, Rows Layout>
void multiply_tile(int64_t depth, const Element* a, int64_t a_stride, const Element* b,
                   int64_t b_stride, float* c, int64_t c_stride, bool accumulate) {
  TileSums<NumRows, NumVectors> sums{};
  if (accumulate) sums.load_from(c, c_stride);
  for (int64_t k = 0; k < depth; ++k) {
    decltype(load(b)) b_row[NumVectors];
#pragma GCC unroll 4
    for (int64_t v = 0; v < NumVectors; ++v) b_row[v] = load(b + v * kLanes);
#pragma GCC unroll 16
    for (int64_t i = 0; i < NumRows; ++i) {
      const Element a_value = Layout == Rows::kAdjacent ? a[i] : a[i * a_stride];
#pragma GCC unroll 4
      for (int64_t v = 0; v < NumVectors; ++v)
        sums.of[i][v] = multiply_add(a_value, b_row[v], sums.of[i][v]);
    }
    a += Layout == Rows::kAdjacent ? a_stride : 1;
    b += b_stride;
  }
  sums.store_to(c, c_stride);
}

template <class Element>
using TileFunction = void (*)(int64_t depth, const Element* a, int64_t a_stride, const Element* b,
                              int64_t b_stride, float* c, int64_t c_stride, bool accumulate);

// The instances of multiply_tile() for 1 to kTileRows rows.
template <class Element, int64_t NumVectors, Rows Layout>
struct TileFunctions {
  TileFunction<Element> of_rows[kTileRows + 1] = {};

  constexpr TileFunctions() { fill<kTileRows>(); }

  template <int64_t NumRows>
  constexpr void fill() {
    of_rows[NumRows] = multiply_tile<Element, NumRows, NumVectors, Layout>;
    if constexpr (NumRows > 1) fill<NumRows - 1>();
  }
};

template <class Element, int64_t NumVectors, Rows Layout>
inline constexpr TileFunctions<Element, NumVectors, Layout> kTileFunctions;  // NOLINT: no cast

template <class Element>
TileFunction<Element> tile_function(int64_t rows, bool is_wide, Rows layout) {
  if (layout == Rows::kAdjacent) {
    return is_wide ? kTileFunctions<Element, kPanelVectors, Rows::kAdjacent>.of_rows[rows]
                   : kTileFunctions<Element, 1, Rows::kAdjacent>.of_rows[rows];
  }
  return is_wide ? kTileFunctions<Element, kPanelVectors, Rows::kApart>.of_rows[rows]
                 : kTileFunctions<Element, 1, Rows::kApart>.of_rows[rows];
}

}  // namespace trainer::cpu::TRAINER_ISA
