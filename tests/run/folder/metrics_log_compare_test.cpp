// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/metrics_log_compare.h"

#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::run {
namespace {

std::optional<std::string> difference(const std::string& a, const std::string& b) {
  const test::TemporaryFolder folder;
  return first_difference(folder.write("a.jsonl", a), folder.write("b.jsonl", b));
}

const std::string kFirst = "{\"step\":1,\"loss\":0.5}\n";

TEST(MetricsCompareTest, EqualRecordsAreEqual) {
  EXPECT_EQ(difference("", ""), std::nullopt);
  EXPECT_EQ(difference(kFirst + kFirst, kFirst + kFirst), std::nullopt);
}

TEST(MetricsCompareTest, WhatDependsOnTheClockDoesNotCount) {
  EXPECT_EQ(difference("{\"step\":1,\"samples_per_second\":10.5,\"time_seconds\":1}\n",
                       "{\"step\":1,\"samples_per_second\":9}\n"),
            std::nullopt);
  EXPECT_EQ(difference("{\"step\":1,\"samples_per_second\":null,"
                       "\"non_finite\":{\"samples_per_second\":\"inf\"}}\n",
                       "{\"step\":1,\"samples_per_second\":9}\n"),
            std::nullopt);
}

TEST(MetricsCompareTest, TheFirstLineThatDiffersIsNamedWithBothRecords) {
  EXPECT_EQ(difference(kFirst + "{\"step\":2,\"loss\":0.25,\"time_seconds\":1}\n",
                       kFirst + "{\"step\":2,\"loss\":0.26,\"time_seconds\":2}\n"),
            "line 2: {\"step\":2,\"loss\":0.25} and {\"step\":2,\"loss\":0.26}");
  EXPECT_EQ(difference("{\"loss\":null,\"non_finite\":{\"loss\":\"nan\"}}\n",
                       "{\"loss\":null,\"non_finite\":{\"loss\":\"inf\"}}\n"),
            "line 1: {\"loss\":null,\"non_finite\":{\"loss\":\"nan\"}} and "
            "{\"loss\":null,\"non_finite\":{\"loss\":\"inf\"}}");
}

TEST(MetricsCompareTest, AMissingRecordIsNamed) {
  EXPECT_EQ(difference(kFirst, ""), "line 1: {\"step\":1,\"loss\":0.5} and nothing");
  EXPECT_EQ(difference(kFirst, kFirst + kFirst), "line 2: nothing and {\"step\":1,\"loss\":0.5}");
}

TEST(MetricsCompareTest, ALineThatIsNoRecordIsComparedAsItIs) {
  EXPECT_EQ(difference("{\"step\":", "{\"step\":"), std::nullopt);
  EXPECT_EQ(difference(kFirst, "{\"step\":"), "line 1: {\"step\":1,\"loss\":0.5} and {\"step\":");
}

TEST(MetricsCompareTest, AFileThatIsMissingIsAnError) {
  const test::TemporaryFolder folder;
  const auto there = folder.write("a.jsonl", kFirst);
  const auto missing = folder.path() / "b.jsonl";
  const Error error = test::error_of([&] { first_difference(there, missing); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), "cannot read " + missing.string() + ": No such file or directory");
}

}  // namespace
}  // namespace trainer::run
