// SPDX-License-Identifier: Apache-2.0
#include "devices/peak_memory.h"

#include <sys/mman.h>

#include <cstring>

#include <gtest/gtest.h>

namespace trainer::bench {
namespace {

constexpr std::size_t kBlock = std::size_t{64} * 1024 * 1024;

// Every page of the block is written to. It goes back to the system at once; an allocator may keep
// it, and AddressSanitizer's does.
uint64_t peak_with_block() {
  void* block = mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(block, MAP_FAILED);
  std::memset(block, 1, kBlock);
  const uint64_t peak = peak_memory_bytes();
  munmap(block, kBlock);
  return peak;
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
