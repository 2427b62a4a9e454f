// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/threads.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace trainer::device {
namespace {

TEST(ThreadsTest, TheConfiguredNumberIsTaken) {
  const auto choice = choose_threads(3, "7");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->num_threads, 3);
  EXPECT_EQ(choice->reason, "as configured");
}

TEST(ThreadsTest, AutoIsTheNumberOfTheEnvironment) {
  const auto choice = choose_threads(0, "7,2");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->num_threads, 7);
  EXPECT_EQ(choice->reason, "OMP_NUM_THREADS");
}

TEST(ThreadsTest, NothingIsChosenWhereTheEnvironmentSaysNothingUseful) {
  for (const char* environment :
       {static_cast<const char*>(nullptr), "", "0", "-2", "many", "100000"}) {
    EXPECT_FALSE(choose_threads(0, environment));
  }
}

TEST(ThreadsTest, LibTorchComputesWithThatManyThreads) {
  const int before = at::get_num_threads();
  use_threads(1);
  EXPECT_EQ(at::get_num_threads(), 1);
  use_threads(2);
  EXPECT_EQ(at::get_num_threads(), 2);
  use_threads(before);
}

}  // namespace
}  // namespace trainer::device
