// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/time/timeline.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trainer {
namespace {

void work(Work kind, std::size_t layer = 0) { const TimedWork timed(kind, layer); }

// Until some time can be seen.
void pass_time() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() == begin) {
  }
}

TEST(TimelineTest, AllStagesTogetherAreTheWholeTime) {
  Timeline timeline;
  {
    const TimedStage read(Stage::kRead);
    pass_time();
    const TimedStage split(Stage::kSplit);
    pass_time();
  }
  const double before = timeline.seconds();
  double all = 0;
  for (std::size_t i = 0; i < kNumStages; ++i) all += timeline.sum(static_cast<Stage>(i)).seconds();
  EXPECT_GE(all, before - 1e-8);
  EXPECT_LE(all, timeline.seconds() + 1e-8);
  EXPECT_GT(timeline.sum(Stage::kRead).nanoseconds, 0);
  EXPECT_GT(timeline.sum(Stage::kSplit).nanoseconds, 0);
}

TEST(TimelineTest, AStageEndsWithItsScope) {
  Timeline timeline;
  { const TimedStage step(Stage::kStep); }
  { const TimedStage step(Stage::kStep); }
  const TimeSum sum = timeline.sum(Stage::kStep);
  pass_time();
  EXPECT_EQ(sum.count, 2);
  EXPECT_EQ(timeline.sum(Stage::kStep).nanoseconds, sum.nanoseconds);
}

TEST(TimelineTest, WorkBelongsToItsStageAndLayer) {
  Timeline timeline;
  {
    const TimedStage step(Stage::kStep);
    work(Work::kForward, 1);
    work(Work::kForward, 2);
    work(Work::kForward, 2);
  }
  {
    const TimedStage evaluation(Stage::kEvaluate);
    work(Work::kForward, 1);
  }
  EXPECT_EQ(timeline.sum(Stage::kStep, Work::kForward, 1).count, 1);
  EXPECT_EQ(timeline.sum(Stage::kStep, Work::kForward, 2).count, 2);
  EXPECT_EQ(timeline.sum(Stage::kEvaluate, Work::kForward, 1).count, 1);
  EXPECT_EQ(timeline.num_layers(Stage::kStep, Work::kForward), 3U);
  EXPECT_EQ(timeline.num_layers(Stage::kStep, Work::kLoss), 0U);
}

TEST(TimelineTest, WorkOfAllThreadsIsAdded) {
  Timeline timeline(/*max_spans=*/10);
  const TimedStage step(Stage::kStep);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([] { work(Work::kUpdate); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(timeline.sum(Stage::kStep, Work::kUpdate, 0).count, 3);
  std::set<int32_t> rows;
  for (const TimeSpan& span : timeline.spans()) rows.insert(span.thread);
  EXPECT_EQ(rows, (std::set<int32_t>{1, 2, 3}));
}

TEST(TimelineTest, StagesOfOtherThreadsDoNotCount) {
  Timeline timeline;
  std::thread([] { const TimedStage save(Stage::kSave); }).join();
  EXPECT_EQ(timeline.sum(Stage::kSave).count, 0);
}

TEST(TimelineTest, NothingIsMeasuredInAPause) {
  Timeline timeline;
  const TimedStage step(Stage::kStep);
  {
    const TimelinePause pause;
    work(Work::kForward);
    const TimedStage evaluation(Stage::kEvaluate);
  }
  work(Work::kLoss);
  EXPECT_EQ(timeline.sum(Stage::kStep, Work::kForward, 0).count, 0);
  EXPECT_EQ(timeline.sum(Stage::kEvaluate).count, 0);
  EXPECT_EQ(timeline.sum(Stage::kStep, Work::kLoss, 0).count, 1);
}

TEST(TimelineTest, SpansAreKeptUpToTheLimitAndSummedBeyondIt) {
  Timeline timeline(/*max_spans=*/2);
  for (int i = 0; i < 5; ++i) work(Work::kGather, 1);
  const std::vector<TimeSpan> spans = timeline.spans();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(std::string(spans[0].name), "gather");
  EXPECT_EQ(spans[0].layer, 1);
  EXPECT_LE(spans[0].begin, spans[0].end);
  EXPECT_LE(spans[0].end, spans[1].begin);
  EXPECT_EQ(timeline.sum(Stage::kOther, Work::kGather, 1).count, 5);
}

TEST(TimelineTest, ALaterTimelineBeginsAnew) {
  {
    const Timeline first;
    work(Work::kForward);
  }
  work(Work::kForward);  // between them
  const Timeline second;
  EXPECT_EQ(second.num_layers(Stage::kOther, Work::kForward), 0U);
  work(Work::kForward);
  EXPECT_EQ(second.sum(Stage::kOther, Work::kForward, 0).count, 1);
}

}  // namespace
}  // namespace trainer
