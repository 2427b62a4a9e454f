// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/score.h"

#include <limits>

#include <gtest/gtest.h>

namespace trainer::metrics {
namespace {

TEST(LossTextTest, HasFourDecimalsUnlessThatIsLong) {
  EXPECT_EQ(loss_text(0.04918), "0.0492");
  EXPECT_EQ(loss_text(-2), "-2.0000");
  EXPECT_EQ(loss_text(999999), "999999.0000");
  EXPECT_EQ(loss_text(3.2764602e34), "3.28e+34");
  EXPECT_EQ(loss_text(std::numeric_limits<double>::infinity()), "inf");
}

}  // namespace
}  // namespace trainer::metrics
