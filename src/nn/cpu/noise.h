// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

// Philox4x32-10 (base/philox.h) for 16 counters in parallel, 64 numbers at a time.
inline constexpr int64_t kCounters = 16;

struct NoiseWords {
  uint32_t words[4][kCounters];
};

// The counter is (block of 64 columns * 16 + lane, layer, row, 0). Word w of the result belongs to
// column 16 w + lane of the block.
inline NoiseWords noise_words(uint64_t seed, uint32_t layer, uint32_t row, uint32_t block) {
  NoiseWords n{};
  for (uint32_t l = 0; l < kCounters; ++l) {
    n.words[0][l] = block * static_cast<uint32_t>(kCounters) + l;
    n.words[1][l] = layer;
    n.words[2][l] = row;
    n.words[3][l] = 0;
  }
  auto key0 = static_cast<uint32_t>(seed);
  auto key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    TRAINER_INDEPENDENT
    for (int64_t l = 0; l < kCounters; ++l) {
      const uint64_t even = uint64_t{0xD2511F53} * n.words[0][l];
      const uint64_t odd = uint64_t{0xCD9E8D57} * n.words[2][l];
      n.words[0][l] = static_cast<uint32_t>(odd >> 32) ^ n.words[1][l] ^ key0;
      n.words[2][l] = static_cast<uint32_t>(even >> 32) ^ n.words[3][l] ^ key1;
      n.words[1][l] = static_cast<uint32_t>(odd);
      n.words[3][l] = static_cast<uint32_t>(even);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return n;
}

// Writes 0 with the probability `source.probability`, else `kept`.
template <class Value>
inline void draw(const NoiseSource& source, int64_t first_row, const Tile& tile, Value kept,
                 Value* out) {
  constexpr double kWords = 4294967296.0;  // 2^32
  constexpr int64_t kBlock = 4 * kCounters;
  const auto threshold = static_cast<uint32_t>(source.probability * kWords);
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const auto row = static_cast<uint32_t>(first_row + i);
    Value* to = out + i * tile.stride;
    for (int64_t begin = 0; begin < tile.num_columns; begin += kBlock) {
      const NoiseWords n =
          noise_words(source.seed, source.layer, row, static_cast<uint32_t>(begin / kBlock));
      Value noise[kBlock];
      for (int64_t w = 0; w < 4; ++w) {
        for (int64_t l = 0; l < kCounters; ++l) {
          noise[w * kCounters + l] = n.words[w][l] < threshold ? Value{0} : kept;
        }
      }
      const int64_t count = smaller(kBlock, tile.num_columns - begin);
      for (int64_t j = 0; j < count; ++j) to[begin + j] = noise[j];
    }
  }
}

inline void make_noise(const NoiseSource& source, int64_t first_row, const Tile& tile, float* out) {
  draw(source, first_row, tile, static_cast<float>(1 / (1 - source.probability)), out);
}

inline void make_mask(const NoiseSource& source, int64_t first_row, const Tile& tile,
                      uint8_t* out) {
  draw(source, first_row, tile, uint8_t{1}, out);
}

}  // namespace trainer::cpu::TRAINER_ISA
