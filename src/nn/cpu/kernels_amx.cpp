// SPDX-License-Identifier: Apache-2.0
// Products in bf16 with AMX. What the instructions do is in Intel's Software Developer's Manual,
// volume 2, at LDTILECFG, TILELOADD, TILEZERO, TILESTORED, TILERELEASE and TDPBF16PS.
//
// TDPBF16PS multiplies 16 rows of 32 depths with 16 columns. For each element of C, the products of
// the even depths are one chain of fused multiply-adds that begins at zero, those of the odd depths
// another; then the sum of both chains is added to the element. All of it rounds to the nearest
// even number, subnormal numbers are zeros and become zeros, and MXCSR is neither read nor written.
// So the bits differ from those of AVX512-BF16, are the same on all machines with AMX, and depend
// on the depths of a product only, not on its rows and columns.
//
// The code uses assembly instead of intrinsics, because those of GCC 12 and 13 load the
// configuration without naming the memory that they read, and their tile registers cannot be
// template arguments.
#ifdef __x86_64__

#define TRAINER_ISA amx
#include "nn/cpu/kernel_table.h"
#include "nn/cpu/multiply_tiles.h"

namespace trainer::cpu {
namespace amx {

struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t num_rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

inline constexpr TileShapes kWholeTiles;

/// Configures the tile registers of this thread while it lives, and then releases them, so that the
/// system need not save them when it switches threads.
class AmxTiles {
 public:
  AmxTiles() { asm volatile("ldtilecfg %0" : : "m"(kWholeTiles)); }
  ~AmxTiles() { asm volatile("tilerelease"); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  template <int Tile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(Tile));
  }

  template <int Tile>
  static void load(const void* from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(Tile) : "memory");
  }

  template <int Tile>
  static void store(void* to, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(Tile) : "memory");
  }

  template <int Sum, int A, int B>
  static void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sum), "i"(A), "i"(B));
  }
};

}  // namespace amx

extern void (*const kMultiplyAmx)(const Product& product,
                                  float* scratch) = amx::multiply_with_tiles<amx::AmxTiles>;

}  // namespace trainer::cpu

#endif
