// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/peak.h"

#include <gtest/gtest.h>

namespace trainer::cpu {
namespace {

// Between what the slowest machine and what no machine does: a wrong unit is not.
TEST(PeakTest, IsOfTheOrderOfAMachine) {
  const Peak peak = measure_peak(2);
  EXPECT_GT(peak.flops_per_second, 1e8);
  EXPECT_LT(peak.flops_per_second, 1e13);
  EXPECT_GT(peak.bytes_per_second, 1e7);
  EXPECT_LT(peak.bytes_per_second, 1e13);
}

}  // namespace
}  // namespace trainer::cpu
