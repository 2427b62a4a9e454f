// SPDX-License-Identifier: Apache-2.0
// The kernel of src/nn/cpu/kernels_amx.cpp, compiled for any machine.
#include "nn/cpu/emulated_amx.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#define TRAINER_ISA emulated_amx
#include "nn/cpu/multiply_tiles.h"

namespace trainer::cpu {
namespace emulated_amx {
namespace {

struct Tile {
  uint32_t rows[kTileSide][kTileSide];
};

thread_local Tile tiles[8];

float number(uint32_t bits) { return std::bit_cast<float>(bits); }

float flushed(float x) {
  return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}

/// Tile registers, each of 16 rows of 64 bytes.
class EmulatedTiles {
 public:
  EmulatedTiles() { std::memset(tiles, 0, sizeof tiles); }
  ~EmulatedTiles() { std::memset(tiles, 0xff, sizeof tiles); }  // NaN
  EmulatedTiles(const EmulatedTiles&) = delete;
  EmulatedTiles& operator=(const EmulatedTiles&) = delete;

  template <int Index>
  static void zero() {
    tiles[Index] = {};
  }

  template <int Index>
  static void load(const void* from, int64_t stride) {
    for (int64_t i = 0; i < kTileSide; ++i) {
      std::memcpy(tiles[Index].rows[i], static_cast<const char*>(from) + i * stride, 64);
    }
  }

  template <int Index>
  static void store(void* to, int64_t stride) {
    for (int64_t i = 0; i < kTileSide; ++i) {
      std::memcpy(static_cast<char*>(to) + i * stride, tiles[Index].rows[i], 64);
    }
  }

  template <int Sum, int A, int B>
  static void multiply() {
    for (int64_t m = 0; m < kTileSide; ++m) {
      for (int64_t n = 0; n < kTileSide; ++n) {
        uint32_t& sum = tiles[Sum].rows[m][n];
        sum = std::bit_cast<uint32_t>(flushed(flushed(number(sum)) + dot(A, m, B, n)));
      }
    }
  }

 private:
  // Of row m of A with column n of B.
  static float dot(int a, int64_t m, int b, int64_t n) {
    float even = 0;
    float odd = 0;
    for (int64_t k = 0; k < kTileSide; ++k) {
      const uint32_t x = tiles[a].rows[m][k];
      const uint32_t y = tiles[b].rows[k][n];
      even = flushed(std::fma(number(x << 16U), number(y << 16U), even));
      odd = flushed(std::fma(number(x & 0xffff0000U), number(y & 0xffff0000U), odd));
    }
    return flushed(even + odd);
  }
};

}  // namespace
}  // namespace emulated_amx

const Kernels& emulated_amx_kernels() {
  static const Kernels emulated = [] {
    Kernels kernels = *all_kernels().front();
    kernels.name = "emulated_amx";
    kernels.panel_columns = emulated_amx::kPanelColumns;
    kernels.panel_depth = emulated_amx::kDepthBlock;
    kernels.scratch_floats = emulated_amx::kScratchFloats;
    kernels.multiply_bf16 = emulated_amx::multiply_with_tiles<emulated_amx::EmulatedTiles>;
    kernels.bf16_products = Bf16Products::kAmx;
    return kernels;
  }();
  return emulated;
}

}  // namespace trainer::cpu
