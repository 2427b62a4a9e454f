// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by files that are compiled once for each instruction set, each into the namespace
// TRAINER_ISA. They include no header with inline functions other than intrinsics: the linker keeps
// one copy of such a function for the whole program, possibly one that this machine cannot run.
#include <cstdint>

namespace trainer::cpu::TRAINER_ISA {

// The sizes let a tile of a product's inner kernel fit into the 16 or 32 registers: rows x vectors
// accumulators, the vectors of B and one of A.
#if defined(__AVX512F__) || defined(TRAINER_EMULATES_AMX)
inline constexpr int64_t kLanes = 16;
inline constexpr int64_t kTileRows = 14;
inline constexpr int64_t kPanelVectors = 2;
#elif defined(__AVX2__)
inline constexpr int64_t kLanes = 8;
inline constexpr int64_t kTileRows = 6;
inline constexpr int64_t kPanelVectors = 2;
#elif defined(__aarch64__)
inline constexpr int64_t kLanes = 4;
inline constexpr int64_t kTileRows = 6;
inline constexpr int64_t kPanelVectors = 4;
#else
inline constexpr int64_t kLanes = 4;
inline constexpr int64_t kTileRows = 6;
inline constexpr int64_t kPanelVectors = 2;
#endif
inline constexpr int64_t kPanelColumns = kLanes * kPanelVectors;

using Vector = float __attribute__((vector_size(sizeof(float) * kLanes)));
using IndexVector = int32_t __attribute__((vector_size(sizeof(int32_t) * kLanes)));

// Two bf16 numbers of a product, of an even depth and of the odd one after it, the latter in the
// upper half.
using Pair = int32_t;

// A vector in an array, which needs no alignment. Vector itself cannot have a smaller alignment:
// Clang ignores it, and GCC 14 for Arm ends with an internal error where a function has such a
// parameter.
template <class AnyVector>
struct __attribute__((packed, may_alias)) InArray {
  AnyVector value;
};

inline Vector load(const float* from) {
  return reinterpret_cast<const InArray<Vector>*>(from)->value;
}
inline IndexVector load(const int32_t* from) {
  return reinterpret_cast<const InArray<IndexVector>*>(from)->value;
}
inline void store(float* to, Vector value) {
  reinterpret_cast<InArray<Vector>*>(to)->value = value;
}
inline void store(int32_t* to, IndexVector value) {
  reinterpret_cast<InArray<IndexVector>*>(to)->value = value;
}

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// Loads the first `count` numbers and fills the rest of the vector with zeros; `count` may exceed
// the number of lanes.
inline Vector load_some(const float* from, int64_t count) {
  if (count >= kLanes) return load(from);
  float some[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) some[i] = from[i];
  return load(some);
}

#ifdef __clang__
#define TRAINER_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define TRAINER_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, IndexVector{__VA_ARGS__})
#endif

// Returns a0 b0 a1 b1 ... of the lower (zip_low) or the upper (zip_high) halves of the vectors.
inline Vector zip_low(Vector a, Vector b) {
#if defined(__AVX512F__) || defined(TRAINER_EMULATES_AMX)
  return TRAINER_SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif defined(__AVX2__)
  return TRAINER_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
  return TRAINER_SHUFFLE(a, b, 0, 4, 1, 5);
#endif
}

inline Vector zip_high(Vector a, Vector b) {
#if defined(__AVX512F__) || defined(TRAINER_EMULATES_AMX)
  return TRAINER_SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif defined(__AVX2__)
  return TRAINER_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
  return TRAINER_SHUFFLE(a, b, 2, 6, 3, 7);
#endif
}

// Exchanges each two neighbors: returns a1 a0 a3 a2 ...
inline Vector swap_neighbors(Vector a) {
#if defined(__AVX512F__) || defined(TRAINER_EMULATES_AMX)
  return TRAINER_SHUFFLE(a, a, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
#elif defined(__AVX2__)
  return TRAINER_SHUFFLE(a, a, 1, 0, 3, 2, 5, 4, 7, 6);
#else
  return TRAINER_SHUFFLE(a, a, 1, 0, 3, 2);
#endif
}

#undef TRAINER_SHUFFLE

// Placed before a loop that may be vectorized: no iteration reads what another one writes.
#ifdef __clang__
#define TRAINER_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TRAINER_INDEPENDENT _Pragma("GCC ivdep")
#endif

// The number of interleaved partial sums of a row. It does not depend on the vector width, so every
// machine adds in the same order.
inline constexpr int64_t kPartialSums = 16;

struct PartialSums {
  float sums[kPartialSums] = {};

  // Adds the partial sums in the same order on every machine.
  float total() const {
    float sum[kPartialSums];
    for (int64_t i = 0; i < kPartialSums; ++i) sum[i] = sums[i];
    for (int64_t half = kPartialSums / 2; half > 0; half /= 2) {
      for (int64_t i = 0; i < half; ++i) sum[i] += sum[i + half];
    }
    return sum[0];
  }
};

// The sum of value(j) over j in [0, size).
template <class Value>
float sum_over(int64_t size, const Value& value) {
  if (size < kPartialSums) {
    float sum = 0.0f;
    for (int64_t j = 0; j < size; ++j) sum += value(j);
    return sum;
  }
  PartialSums partial;
  int64_t j = 0;
  for (; j + kPartialSums <= size; j += kPartialSums) {
    for (int64_t i = 0; i < kPartialSums; ++i) partial.sums[i] += value(j + i);
  }
  for (int64_t i = 0; j + i < size; ++i) partial.sums[i] += value(j + i);
  return partial.total();
}

}  // namespace trainer::cpu::TRAINER_ISA
