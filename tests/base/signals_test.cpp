// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/signals.h"

#include <signal.h>

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(SignalsTest, ASignalIsRememberedUntilTheWatchEnds) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    watch_signals();
    EXPECT_EQ(stop_request(), 0);
    raise(signal);
    EXPECT_EQ(stop_request(), signal);
    unwatch_signals();
    EXPECT_EQ(stop_request(), 0);
  }
}

TEST(SignalsTest, ASignalThatWasIgnoredStaysIgnored) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    signal(number, SIG_IGN);
    watch_signals();
    raise(number);
    EXPECT_EQ(stop_request(), 0);
    unwatch_signals();
    raise(number);
    signal(number, SIG_DFL);
  }
}

TEST(SignalsTest, ASignalIsNotForgottenByAWatchWithinAnother) {
  watch_signals();
  raise(SIGTERM);
  watch_signals();
  EXPECT_EQ(stop_request(), SIGTERM);
  unwatch_signals();
  EXPECT_EQ(stop_request(), SIGTERM);
  raise(SIGHUP);  // still watched
  unwatch_signals();
  EXPECT_EQ(stop_request(), 0);
}

TEST(SignalsTest, ARequestToSaveIsTakenOnce) {
  watch_signals();
  EXPECT_FALSE(take_save_request());
  raise(SIGUSR1);
  EXPECT_EQ(stop_request(), 0);
  EXPECT_TRUE(take_save_request());
  EXPECT_FALSE(take_save_request());
  unwatch_signals();
}

TEST(SignalsTest, ARequestToSaveBeforeTheWatchEndsNothing) {
  accept_save_requests();
  raise(SIGUSR1);
  watch_signals();
  EXPECT_FALSE(take_save_request());  // the run saves its beginning anyway
  unwatch_signals();
  raise(SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
}

TEST(SignalsDeathTest, ASecondSigintEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        watch_signals();
        raise(SIGINT);
        raise(SIGINT);
      },
      testing::ExitedWithCode(130), "");
}

TEST(SignalsDeathTest, AfterTheWatchSignalsHaveTheirUsualEffect) {
  EXPECT_EXIT(
      {
        watch_signals();
        unwatch_signals();
        raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace trainer
