// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "nn/cpu/vector.h"

// Products in bf16 have float32 operands in memory, which are rounded while they are packed.
//
// An instruction of AVX512-BF16 multiplies the bf16 numbers of two depths and adds both products to
// a float32 sum, that of the odd depth first, each with one rounding and with subnormal numbers as
// zeros. Without such an instruction, the rounded operands stay float32, with the two depths of
// each pair exchanged, and go through the tile functions for float32. A product of two bf16 numbers
// is exact in float32, so with or without fused multiply-adds every instruction set gives the same
// bits, except for products that are subnormal without them.
namespace trainer::cpu::TRAINER_ISA {

#ifdef __AVX512BF16__

using Halves = int16_t __attribute__((vector_size(sizeof(int16_t) * 2 * kLanes)));

// Pairs each number of the row of an even depth with the number of the same column of the next, odd
// depth.
inline IndexVector pairs_of(Vector even, Vector odd) {
  const auto halves = Halves(_mm512_cvtne2ps_pbh(__m512(odd), __m512(even)));
  constexpr Halves kInTurn = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                              8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return IndexVector(_mm512_permutexvar_epi16(__m512i(kInTurn), __m512i(halves)));
}

// Pairs neighbors: the numbers 0 and 1, 2 and 3, ... of two consecutive vectors.
inline IndexVector pairs_within(Vector first, Vector second) {
  return IndexVector(__m512i(_mm512_cvtne2ps_pbh(__m512(second), __m512(first))));
}

#else

using Bits = uint32_t __attribute__((vector_size(sizeof(uint32_t) * kLanes)));

// Rounds to the nearest bf16 number, ties to even. As in the instruction, subnormal numbers become
// zero, and NaN stays NaN.
inline Vector round_to_bf16(Vector x) {
  const auto bits = Bits(x);
  const Bits magnitude = bits & 0x7fffffffU;
  const Bits rounded = bits + 0x7fffU + ((bits >> 16U) & 1U);
  const Bits number = magnitude > 0x7f800000U ? bits | 0x00400000U : rounded;
  const Bits normal = magnitude < 0x00800000U ? bits & 0x80000000U : number;
  return Vector(normal & 0xffff0000U);
}

inline IndexVector pairs_of(Vector even, Vector odd) {
  return IndexVector(Bits(round_to_bf16(even)) >> 16U | Bits(round_to_bf16(odd)));
}

inline IndexVector pairs_within(Vector first, Vector second) {
  float even[kLanes];
  float odd[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    const Vector& from = 2 * i < kLanes ? first : second;
    even[i] = from[2 * i % kLanes];
    odd[i] = from[2 * i % kLanes + 1];
  }
  return pairs_of(load(even), load(odd));
}

#endif

#if defined(__AVX512BF16__) || defined(TRAINER_EMULATES_AMX)

using Bf16Element = Pair;
using Bf16Vector = IndexVector;
inline constexpr int64_t kElementsPerPair = 1;

inline void store_depths(Pair* to, int64_t /*stride*/, Vector even, Vector odd) {
  store(to, pairs_of(even, odd));
}

// A packed vector holds kDepthsPerVector depths of one row. take_depths() packs those from `from`
// on, with zeros after the first `count`.
inline constexpr int64_t kDepthsPerVector = 2 * kLanes;
inline Vector take_depths(const float* from, int64_t count) {
  const Vector first = load_some(from, count);
  const Vector second = count > kLanes ? load_some(from + kLanes, count - kLanes) : Vector{};
  return Vector(pairs_within(first, second));
}

#else

using Bf16Element = float;
using Bf16Vector = Vector;
inline constexpr int64_t kElementsPerPair = 2;

inline void store_depths(float* to, int64_t stride, Vector even, Vector odd) {
  store(to, round_to_bf16(odd));
  store(to + stride, round_to_bf16(even));
}

inline constexpr int64_t kDepthsPerVector = kLanes;
inline Vector take_depths(const float* from, int64_t count) {
  return swap_neighbors(round_to_bf16(load_some(from, count)));
}

#endif

/// While it lives, the CPU treats subnormal numbers as zeros, as the instructions for bf16 do.
class FlushedSubnormals {
 public:
#if defined(__AVX512BF16__)
  FlushedSubnormals() {}   // NOLINT(modernize-use-equals-default): used as a variable
  ~FlushedSubnormals() {}  // NOLINT(modernize-use-equals-default)
#elif defined(__x86_64__)
  FlushedSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040U); }
  ~FlushedSubnormals() { _mm_setcsr(before_); }
#elif defined(__aarch64__)
  FlushedSubnormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | (uint64_t{1} << 24)));
  }
  ~FlushedSubnormals() { asm volatile("msr fpcr, %0" : : "r"(before_)); }
#endif
  FlushedSubnormals(const FlushedSubnormals&) = delete;
  FlushedSubnormals& operator=(const FlushedSubnormals&) = delete;

 private:
#if defined(__AVX512BF16__)
#elif defined(__x86_64__)
  unsigned before_;
#elif defined(__aarch64__)
  uint64_t before_ = 0;
#endif
};

}  // namespace trainer::cpu::TRAINER_ISA
