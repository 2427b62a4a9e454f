// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/metrics_log.h"

#include <cmath>
#include <limits>

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

}  // namespace
}  // namespace trainer::run
