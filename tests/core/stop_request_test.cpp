// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/stop_request.h"

#include <signal.h>

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(StopRequestTest, ASignalIsRememberedUntilTheWatchEnds) {
  for (const int signal : {SIGINT, SIGTERM}) {
    watch_for_stop();
    EXPECT_EQ(stop_request(), 0);
    raise(signal);
    EXPECT_EQ(stop_request(), signal);
    unwatch_stop();
    EXPECT_EQ(stop_request(), 0);
  }
}

TEST(StopRequestDeathTest, ASecondSigintEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        watch_for_stop();
        raise(SIGINT);
        raise(SIGINT);
      },
      testing::ExitedWithCode(130), "");
}

TEST(StopRequestDeathTest, AfterTheWatchSignalsHaveTheirUsualEffect) {
  EXPECT_EXIT(
      {
        watch_for_stop();
        unwatch_stop();
        raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace trainer
