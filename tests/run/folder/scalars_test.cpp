// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/scalars.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/run/folder/metrics_log.h"

#include "support/error_of.h"

namespace trainer::run {
namespace {

std::vector<std::string> lines(const Json& record) {
  std::vector<std::string> result;
  for (const Scalar& scalar : scalars(JsonReader(record))) {
    result.push_back(fmt::format("{}/{} {}", scalar.name, scalar.split, scalar.value));
  }
  return result;
}

MetricsRecord record_of(const char* split) {
  MetricsRecord record;
  record.step = 7;
  record.split = split;
  record.loss = 0.5;
  return record;
}

TEST(ScalarsTest, RecordsWithinAnEpochHaveASplitOfTheirOwn) {
  MetricsRecord record = record_of("train");
  record.learning_rate = 0.25;
  EXPECT_EQ(lines(json_of(record)),
            (std::vector<std::string>{"loss/train_steps 0.5", "learning_rate/ 0.25"}));
  record.time_seconds = 1;
  EXPECT_EQ(lines(json_of(record)),
            (std::vector<std::string>{"loss/train 0.5", "learning_rate/ 0.25"}));
}

TEST(ScalarsTest, ScoresAreOfTheSplitAndCountsAreNoCurves) {
  MetricsRecord record = record_of("validation");
  record.scores = {{"r2", 0.75}};
  record.time_seconds = 1;
  record.rollbacks = 2;
  EXPECT_EQ(lines(json_of(record)),
            (std::vector<std::string>{"loss/validation 0.5", "r2/validation 0.75"}));
}

TEST(ScalarsTest, WhatIsNotFiniteIsKeptUntilItIsInAFile) {
  MetricsRecord record = record_of("train");
  record.loss = std::numeric_limits<double>::infinity();
  ASSERT_EQ(scalars(JsonReader(json_of(record))).size(), 1U);
  EXPECT_TRUE(std::isinf(scalars(JsonReader(json_of(record)))[0].value));
  EXPECT_TRUE(scalars(JsonReader(parse_json(to_json(record)))).empty());
}

TEST(ScalarsTest, ASplitThatIsNoneIsRefused) {
  const JsonReader record(Json{{"step", 1}, {"split", "../../evil"}, {"loss", 0.5}}, "m.jsonl:1");
  const Error error = test::error_of([&] { scalars(record); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  EXPECT_STREQ(error.what(),
               "m.jsonl:1: split: expected train, validation or test, got \"../../evil\"; the file "
               "is damaged");
}

}  // namespace
}  // namespace trainer::run
