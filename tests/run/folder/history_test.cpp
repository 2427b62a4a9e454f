// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/history.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace trainer::run {
namespace {

TEST(History, HasTheRecordsThatCloseAnEpochAndTheTest) {
  const test::TemporaryFolder folder;
  folder.write("metrics.jsonl",
               R"({"step":2,"epoch":1,"split":"train","loss":2,"accuracy":0.25}
{"step":4,"epoch":1,"split":"train","loss":1.5,"accuracy":0.5,"time_seconds":2}
{"step":4,"epoch":1,"split":"validation","loss":1.25,"accuracy":0.75,"time_seconds":0.1}
{"step":8,"epoch":2,"split":"train","loss":null,"non_finite":{"loss":"nan"},"time_seconds":3}
{"step":8,"epoch":2,"split":"test","loss":1,"accuracy":1,"time_seconds":0.1}
{"step":9,"epo)");
  folder.write("system.json", R"({"starts":[{"time":"2026-01-02T03:04:05+0000","device":"cpu"}]})");
  const History history = read_history(folder.path());
  ASSERT_EQ(history.epochs.size(), 2U);
  EXPECT_EQ(history.epochs[0].step, 4);
  EXPECT_EQ(history.epochs[0].train.loss, 1.5);
  EXPECT_EQ(history.epochs[0].validation->accuracy, 0.75);
  EXPECT_EQ(history.epochs[1].train.loss, std::nullopt);
  EXPECT_FALSE(history.epochs[1].validation.has_value());
  EXPECT_EQ(history.epochs[1].time_seconds, 3);
  EXPECT_EQ(history.test->accuracy, 1);
  ASSERT_EQ(history.starts.size(), 1U);
  EXPECT_EQ(history.starts[0].device, "cpu");
}

// The name of the validation split before 0.1.0.
TEST(History, ReadsTheOldNameOfTheValidationSplit) {
  const test::TemporaryFolder folder;
  folder.write("metrics.jsonl", R"({"step":4,"epoch":1,"split":"train","loss":1.5,"time_seconds":2}
{"step":4,"epoch":1,"split":"val","loss":1.25,"time_seconds":0.1}
)");
  const History history = read_history(folder.path());
  ASSERT_EQ(history.epochs.size(), 1U);
  EXPECT_EQ(history.epochs[0].validation->loss, 1.25);
}

TEST(History, SaysHowAStartEnded) {
  const test::TemporaryFolder folder;
  folder.write("system.json", R"({"host":1,"starts":[{"time":"a"},{"time":"b"}]})");
  write_end(folder.path(), End::kFailed, "out of memory");
  const History history = read_history(folder.path());
  ASSERT_EQ(history.starts.size(), 2U);
  EXPECT_EQ(history.starts[0].end, End::kNone);
  EXPECT_EQ(history.starts[1].end, End::kFailed);
  EXPECT_EQ(history.starts[1].reason, "out of memory");
  write_end(folder.path(), End::kComplete, "");
  EXPECT_EQ(read_history(folder.path()).starts[1].end, End::kComplete);
  EXPECT_EQ(read_history(folder.path()).starts[1].reason, "");
}

TEST(History, OfAFolderWithoutFilesIsEmpty) {
  const test::TemporaryFolder folder;
  const History history = read_history(folder.path());
  EXPECT_TRUE(history.epochs.empty());
  EXPECT_TRUE(history.starts.empty());
}

}  // namespace
}  // namespace trainer::run
