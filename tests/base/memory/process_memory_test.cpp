// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/memory/process_memory.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(ProcessMemoryTest, MemoryThatIsUsedIsCounted) {
  constexpr int64_t kBytes = 64 << 20;
  const ProcessMemory before = process_memory();
  EXPECT_GT(before.current, 0);
  EXPECT_GE(before.peak, before.current);
  const std::vector<char> used(kBytes, 1);
  const ProcessMemory after = process_memory();
  EXPECT_GE(after.current, before.current + kBytes / 2);
  EXPECT_GE(after.peak, kBytes);
  EXPECT_EQ(used.back(), 1);
}

TEST(ProcessMemoryTest, SomeMemoryIsStillThere) {
  const auto available = available_memory();
#ifdef __linux__
  ASSERT_TRUE(available.has_value());
  EXPECT_GT(*available, 1 << 20);
#else
  EXPECT_FALSE(available.has_value());
#endif
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
TEST(ProcessMemoryTest, FreedBlocksAreReturned) {
  constexpr std::size_t kBlock = 2 << 20;
  // After this glibc would take blocks of that size from its heap.
  { const std::vector<char> large(24 << 20, 1); }
  return_freed_blocks();
  std::vector<std::vector<char>> blocks(32, std::vector<char>(kBlock, 1));
  const int64_t before = process_memory().current;
  for (std::size_t i = 0; i < blocks.size(); i += 2) std::vector<char>().swap(blocks[i]);
  EXPECT_LE(process_memory().current, before - static_cast<int64_t>(8 * kBlock));
}
#endif

}  // namespace
}  // namespace trainer
