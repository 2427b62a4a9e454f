// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/until_done.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(UntilDoneTest, ACallThatASignalInterruptsIsMadeAgain) {
  int num_calls = 0;
  const int result = until_done([&] {
    errno = EINTR;
    return ++num_calls < 3 ? -1 : 7;
  });
  EXPECT_EQ(result, 7);
  EXPECT_EQ(num_calls, 3);
}

TEST(UntilDoneTest, AnotherErrorIsReturnedAtOnce) {
  int num_calls = 0;
  const int result = until_done([&] {
    ++num_calls;
    errno = ENOSPC;
    return -1;
  });
  EXPECT_EQ(result, -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(num_calls, 1);
}

}  // namespace
}  // namespace trainer
