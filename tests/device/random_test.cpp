// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/random.h"

#include <cstdint>

#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include "support/tensors.h"

namespace trainer::device {
namespace {

TEST(RandomTest, TheSeedOfDropoutDependsOnSeedAndStepAlone) {
  EXPECT_EQ(dropout_seed(42, 3), dropout_seed(42, 3));
  EXPECT_NE(dropout_seed(42, 3), dropout_seed(42, 4));
  EXPECT_NE(dropout_seed(42, 3), dropout_seed(43, 3));
  EXPECT_NE(dropout_seed(42, 3), dropout_seed(42, int64_t{3} + (int64_t{1} << 32)));
}

TEST(RandomTest, GeneratorsThatAreSeededAlikeDrawAlike) {
  seed_generators(5);
  const at::Tensor first = at::rand({8});
  seed_generators(6);
  EXPECT_FALSE(test::identical(at::rand({8}), first));
  seed_generators(5);
  EXPECT_TRUE(test::identical(at::rand({8}), first));
}

}  // namespace
}  // namespace trainer::device
