// SPDX-License-Identifier: Apache-2.0
#include "devices/peak_memory.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace trainer::bench {
namespace {

constexpr std::size_t kBlock = 64 * 1024 * 1024;

// Every page of it is written to.
uint64_t peak_with_block() {
  std::vector<char> block(kBlock);
  std::fill(block.begin(), block.end(), '\1');
  return block[kBlock / 2] == '\1' ? peak_memory_bytes() : 0;
}

TEST(PeakMemoryTest, RemembersMemoryThatWasGivenBack) {
  const uint64_t before = peak_memory_bytes();
  const uint64_t with_block = peak_with_block();
  EXPECT_GT(with_block, before + kBlock / 2);
  EXPECT_GE(peak_memory_bytes(), with_block - kBlock / 2);
}

#ifndef __APPLE__  // macOS cannot reset the peak
TEST(PeakMemoryTest, BeginsAnew) {
  const uint64_t with_block = peak_with_block();
  restart_peak_memory();
  EXPECT_LT(peak_memory_bytes(), with_block - kBlock / 2);
}
#endif

}  // namespace
}  // namespace trainer::bench
