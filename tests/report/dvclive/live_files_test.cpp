// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/dvclive/live_files.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::dvclive {
namespace {

run::MetricsRecord epoch(int64_t step, double loss) {
  run::MetricsRecord record;
  record.step = step;
  record.split = "train";
  record.loss = loss;
  record.time_seconds = 1;
  return record;
}

TEST(LiveFilesTest, WhatAKilledProcessLeftIsRemoved) {
  const test::TemporaryFolder folder;
  folder.write(".metrics.json.tmp-4711", "{");
  require_usable(folder.path());
  const LiveFiles files(folder.path(), "seed: 1\n");
  EXPECT_EQ(test::file_names(folder.path()), (std::vector<std::string>{"dvc.yaml", "params.yaml"}));
}

TEST(LiveFilesTest, HasACurveForEachNumberAndItsLastValue) {
  const test::TemporaryFolder folder;
  LiveFiles files(folder.path() / "live", "seed: 1\n");
  files.add(epoch(10, 0.5));
  files.add(epoch(20, 0.25));
  const auto text = [&](const char* name) {
    return test::read_file(folder.path() / "live" / name);
  };
  EXPECT_EQ(text("plots/metrics/train/loss.tsv"), "step\tloss\n10\t0.5\n20\t0.25\n");
  EXPECT_EQ(parse_json(text("metrics.json")), (Json{{"step", 20}, {"train", {{"loss", 0.25}}}}));
  EXPECT_EQ(text("params.yaml"), "seed: 1\n");
  EXPECT_EQ(text("dvc.yaml"),
            "params:\n- params.yaml\nmetrics:\n- metrics.json\nplots:\n- plots/metrics:\n"
            "    x: step\n");
}

TEST(LiveFilesTest, BeginsAnewFromTheRecordsOfTheRun) {
  const test::TemporaryFolder folder;
  LiveFiles files(folder.path() / "live", "");
  files.add(epoch(10, 0.5));
  files.add(epoch(20, std::numeric_limits<double>::infinity()));
  folder.write("metrics.jsonl", run::to_json(epoch(10, 0.75)) + "\n" + run::to_json(epoch(20, 2)) +
                                    "\n{\"step\": 3");
  files.restart(folder.path() / "metrics.jsonl");
  files.add(epoch(30, 1));
  EXPECT_EQ(test::read_file(folder.path() / "live/plots/metrics/train/loss.tsv"),
            "step\tloss\n10\t0.75\n20\t2\n30\t1\n");
}

TEST(LiveFilesTest, NumbersThatAreNotFiniteAreLeftOut) {
  const test::TemporaryFolder folder;
  LiveFiles files(folder.path() / "live", "");
  files.add(epoch(10, 0.5));
  files.add(epoch(20, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(test::read_file(folder.path() / "live/plots/metrics/train/loss.tsv"),
            "step\tloss\n10\t0.5\n");
}

TEST(LiveFilesTest, AFolderOfSomethingElseIsRefused) {
  const test::TemporaryFolder folder;
  require_usable(folder.path() / "new");
  folder.write("metrics.json", "");
  require_usable(folder.path());
  folder.write("thesis.tex", "");
  const Error error = test::error_of([&] { require_usable(folder.path()); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(std::string(error.what()), "logging.dvclive: expected a folder of its own, got \"" +
                                           folder.path().string() +
                                           "\", which has \"thesis.tex\"; name a new folder, such "
                                           "as dvclive");
}

TEST(LiveFilesTest, AFolderThatCannotBeMadeIsAnError) {
  const test::TemporaryFolder folder;
  folder.write("file", "");
  EXPECT_EQ(test::error_of([&] { const LiveFiles files(folder.path() / "file", ""); }).kind(),
            ErrorKind::kFileSystem);
}

TEST(LiveFilesTest, OfNoFolderNothingIsWritten) {
  LiveFiles files;
  files.add(epoch(1, 1));
  files.restart("nowhere");
}

}  // namespace
}  // namespace trainer::dvclive
