// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/executable_path.h"

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(ExecutablePathTest, IsTheFileOfThisTest) {
  EXPECT_EQ(executable_path().filename(), "core_tests");
  EXPECT_TRUE(std::filesystem::is_regular_file(executable_path())) << executable_path();
}

}  // namespace
}  // namespace trainer
