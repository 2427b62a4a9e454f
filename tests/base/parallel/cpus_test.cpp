// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/parallel/cpus.h"

#include <thread>

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(CpusTest, UsableOnesAreAtLeastOneAndNotMoreThanThereAre) {
  EXPECT_GE(usable_cpus(), 1);
  if (std::thread::hardware_concurrency() > 0) {
    EXPECT_LE(usable_cpus(), static_cast<int64_t>(std::thread::hardware_concurrency()));
  }
}

TEST(CpusTest, OpenmpThreadsAreAListOfWhichTheFirstCounts) {
  EXPECT_EQ(openmp_threads("7"), 7);
  EXPECT_EQ(openmp_threads("1024"), 1024);
  EXPECT_EQ(openmp_threads("4,2"), 4);
  EXPECT_EQ(openmp_threads(" 4 , 2 "), 4);
  for (const char* wrong :
       {static_cast<const char*>(nullptr), "", "0", "-2", "1025", "many", "4,", "4,x", "1.5"}) {
    EXPECT_FALSE(openmp_threads(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace trainer
