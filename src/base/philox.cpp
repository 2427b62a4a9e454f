// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/philox.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace trainer {
namespace {

constexpr int kRounds = 10;
constexpr std::array<uint32_t, 2> kMultipliers = {0xD2511F53, 0xCD9E8D57};
constexpr std::array<uint32_t, 2> kKeySteps = {0x9E3779B9, 0xBB67AE85};  // golden ratio, sqrt(3)-1

// The fourth word of the counter: the stream id in the low bits, the high part of the block above.
constexpr uint32_t kPurposeBits = 8;
constexpr uint32_t kBlockHighStep = 1u << kPurposeBits;

constexpr uint32_t low_half(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t high_half(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

__extension__ using Uint128 = unsigned __int128;

}  // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t even = uint64_t{kMultipliers[0]} * counter[0];
    const uint64_t odd = uint64_t{kMultipliers[1]} * counter[2];
    counter = {high_half(odd) ^ counter[1] ^ key[0], low_half(odd),
               high_half(even) ^ counter[3] ^ key[1], low_half(even)};
    key[0] += kKeySteps[0];
    key[1] += kKeySteps[1];
  }
  return counter;
}

PhiloxStream::PhiloxStream(uint64_t seed, StreamId stream, uint64_t index)
    : counter_{0, low_half(index), high_half(index), static_cast<uint32_t>(stream)},
      key_{low_half(seed), high_half(seed)} {}

uint32_t PhiloxStream::next_u32() {
  if (used_ == words_.size()) {
    words_ = philox4x32(counter_, key_);
    used_ = 0;
    if (++counter_[0] == 0) counter_[3] += kBlockHighStep;
  }
  return words_[used_++];
}

uint64_t PhiloxStream::next_u64() {
  const uint64_t low = next_u32();
  return low | uint64_t{next_u32()} << 32;
}

uint64_t PhiloxStream::below(uint64_t bound) {
  Uint128 product = Uint128{next_u64()} * bound;
  if (static_cast<uint64_t>(product) < bound) {
    // The draw may belong to the incomplete last interval, which only a division can tell.
    const uint64_t rejected = (0 - bound) % bound;
    while (static_cast<uint64_t>(product) < rejected) product = Uint128{next_u64()} * bound;
  }
  return static_cast<uint64_t>(product >> 64);
}

double PhiloxStream::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

double PhiloxStream::normal() {
  constexpr int kTerms = 12;  // each has variance 1/12
  double sum = 0;
  for (int term = 0; term < kTerms; ++term) sum += uniform();
  return sum - 0.5 * kTerms;
}

void shuffle(std::span<int64_t> values, PhiloxStream& random) {
  // In a large array each swap misses the caches, so values are prefetched while others are drawn.
  constexpr size_t kAhead = 32;
  std::array<size_t, kAhead> drawn{};
  for (size_t left = values.size(); left > 1;) {
    const size_t count = std::min(kAhead, left - 1);
    for (size_t i = 0; i < count; ++i) {
      drawn[i] = static_cast<size_t>(random.below(left - i));
      __builtin_prefetch(&values[drawn[i]], 1);
    }
    for (size_t i = 0; i < count; ++i) std::swap(values[left - 1 - i], values[drawn[i]]);
    left -= count;
  }
}

}  // namespace trainer
