// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/random.h"

#include <cstdint>

#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include "support/tensors.h"

namespace trainer::device {
namespace {

at::Tensor draws(uint64_t seed, int64_t step) {
  seed_step(seed, step);
  return at::rand({8});
}

TEST(RandomTest, DrawsDependOnSeedAndStepAlone) {
  const at::Tensor first = draws(42, 3);
  at::rand({5});  // what was drawn before does not matter
  draws(42, 4);
  EXPECT_TRUE(test::identical(draws(42, 3), first));
}

TEST(RandomTest, AnotherSeedOrStepGivesOtherDraws) {
  const at::Tensor first = draws(42, 3);
  EXPECT_FALSE(test::identical(draws(42, 4), first));
  EXPECT_FALSE(test::identical(draws(43, 3), first));
  EXPECT_FALSE(test::identical(draws(42, int64_t{3} + (int64_t{1} << 32)), first));
}

}  // namespace
}  // namespace trainer::device
