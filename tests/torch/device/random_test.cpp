// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/random.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace trainer::device {
namespace {

TEST(RandomTest, TheSeedOfDropoutDependsOnSeedAndStepAlone) {
  EXPECT_EQ(dropout_seed(42, 3), dropout_seed(42, 3));
  EXPECT_NE(dropout_seed(42, 3), dropout_seed(42, 4));
  EXPECT_NE(dropout_seed(42, 3), dropout_seed(43, 3));
  EXPECT_NE(dropout_seed(42, 3), dropout_seed(42, int64_t{3} + (int64_t{1} << 32)));
}

}  // namespace
}  // namespace trainer::device
