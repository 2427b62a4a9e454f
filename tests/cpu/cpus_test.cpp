// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/cpus.h"

#include <thread>

#include <gtest/gtest.h>

namespace trainer::cpu {
namespace {

TEST(CpusTest, UsableOnesAreAtLeastOneAndNotMoreThanThereAre) {
  EXPECT_GE(usable_cpus(), 1);
  if (std::thread::hardware_concurrency() > 0) {
    EXPECT_LE(usable_cpus(), static_cast<int64_t>(std::thread::hardware_concurrency()));
  }
}

}  // namespace
}  // namespace trainer::cpu
