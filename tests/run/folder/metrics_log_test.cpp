// SPDX-License-Identifier: Apache-2.0

#include "trainer/run/folder/metrics_log.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::run {
namespace {

MetricsRecord record(int64_t step) {
  MetricsRecord r;
  r.step = step;
  r.epoch = 1;
  r.split = "train";
  r.loss = 0.5;
  return r;
}

TEST(MetricsTest, ARecordIsOneLineWithTheFieldsThatAreSet) {
  MetricsRecord r = record(10);
  r.accuracy = 0.75;
  r.learning_rate = 1e-3;
  r.grad_norm = 2.5;
  EXPECT_EQ(to_json(r), R"({"step":10,"epoch":1,"split":"train","loss":0.5,"accuracy":0.75,)"
                        R"("learning_rate":0.001,"grad_norm":2.5})");
}

TEST(MetricsTest, NumbersThatAreNotFiniteAreNullAndNamed) {
  MetricsRecord r = record(1);
  r.loss = std::nan("");
  r.grad_norm = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_json(r), R"({"step":1,"epoch":1,"split":"train","loss":null,"grad_norm":null,)"
                        R"("non_finite":{"loss":"nan","grad_norm":"-inf"}})");
}

TEST(MetricsTest, AppendsLinesAndKnowsItsLength) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "metrics.jsonl";
  MetricsLog file(path, 0);
  file.append(record(1));
  file.append(record(2));
  file.sync();
  EXPECT_EQ(test::read_file(path), to_json(record(1)) + "\n" + to_json(record(2)) + "\n");
  EXPECT_EQ(file.num_bytes(), test::read_file(path).size());
}

TEST(MetricsTest, AResumedFileIsCutSoThatNoRecordStandsTwice) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "metrics.jsonl";
  uint64_t known_to_checkpoint = 0;
  {
    MetricsLog file(path, 0);
    file.append(record(1));
    known_to_checkpoint = file.num_bytes();
    file.append(record(2));
  }
  MetricsLog file(path, known_to_checkpoint);
  file.append(record(3));
  EXPECT_EQ(test::read_file(path), to_json(record(1)) + "\n" + to_json(record(3)) + "\n");
}

TEST(MetricsTest, AFileThatLostRecordsIsAnError) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("metrics.jsonl", "short");
  const Error error = test::error_of([&] { const MetricsLog file(path, 100); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), path.string() +
                              ": expected at least 100 bytes as recorded in the checkpoint, got 5; "
                              "to resume into a new run folder, copy the checkpoint elsewhere");
}

TEST(MetricsTest, AFileThatCannotBeOpenedIsAnError) {
  const test::TemporaryFolder folder;
  const Error error = test::error_of([&] { const MetricsLog file(folder.path(), 0); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), "cannot write " + folder.path().string() + ": Is a directory");
}

TEST(MetricsTest, RecoveriesStandOnlyWhereThereWereSome) {
  MetricsRecord r;
  r.split = "train";
  r.skipped_steps = 3;
  r.rollbacks = 1;
  EXPECT_EQ(to_json(r), R"({"step":0,"epoch":0,"split":"train","skipped_steps":3,"rollbacks":1})");
}

TEST(MetricsTest, AnOpenFileCanBeCutAndGoesOnThere) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.write("metrics.jsonl", "first\n");
  MetricsLog file(path, 6);
  file.append({});
  file.cut_to(6);
  EXPECT_EQ(file.num_bytes(), 6U);
  EXPECT_EQ(std::filesystem::file_size(path), 6U);
  const Error error = test::error_of([&] { file.cut_to(7); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
}

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
