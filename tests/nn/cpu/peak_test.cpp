// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/peak.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainer::cpu {
namespace {

TEST(PeakTest, IsMeasuredOnAnyMachine) {
  const Peak peak = measure_peak(2);
  EXPECT_GT(peak.flops_per_second, 0);
  EXPECT_TRUE(std::isfinite(peak.flops_per_second));
  EXPECT_GT(peak.bytes_per_second, 0);
  EXPECT_TRUE(std::isfinite(peak.bytes_per_second));
}

}  // namespace
}  // namespace trainer::cpu
