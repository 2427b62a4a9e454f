// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/blas.h"

#include <gtest/gtest.h>

namespace trainer::run {
namespace {

TEST(BlasTest, IsNamed) { EXPECT_FALSE(blas_info().name.empty()); }

TEST(BlasTest, ACoreWithoutAvx2IsReplacedOnACpuThatHasIt) {
  EXPECT_EQ(better_blas_core("Prescott", Vectors::kAvx512), "SkylakeX");
  EXPECT_EQ(better_blas_core("Prescott", Vectors::kAvx2), "Haswell");
  EXPECT_EQ(better_blas_core("Sandybridge", Vectors::kAvx2), "Haswell");
  EXPECT_EQ(better_blas_core("Unknown", Vectors::kAvx512), "SkylakeX");
}

TEST(BlasTest, OtherCoresAreLeftAlone) {
  EXPECT_EQ(better_blas_core("Prescott", Vectors::kOlder), std::nullopt);
  EXPECT_EQ(better_blas_core("Haswell", Vectors::kAvx512), std::nullopt);  // may be a decision
  EXPECT_EQ(better_blas_core("Zen", Vectors::kAvx2), std::nullopt);
  EXPECT_EQ(better_blas_core("Cooperlake", Vectors::kAvx512), std::nullopt);
  EXPECT_EQ(better_blas_core("neoversen1", Vectors::kOlder), std::nullopt);
  EXPECT_EQ(better_blas_core("", Vectors::kAvx512), std::nullopt);  // not OpenBLAS
  EXPECT_EQ(better_blas_core("OfTheFuture", Vectors::kAvx512), std::nullopt);
}

}  // namespace
}  // namespace trainer::run
