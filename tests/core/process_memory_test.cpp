// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/process_memory.h"

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

}  // namespace
}  // namespace trainer
