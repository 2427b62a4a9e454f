// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"
#include "trainer/config/dump.h"
#include "trainer/train/engine/engine.h"

#include "support/engine_runs.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/metrics_records.h"
#include "support/temporary_folder.h"

namespace trainer::engine {
namespace {

namespace fs = std::filesystem;
using test::file_names;
using test::kSmallRun;
using test::make_request;
using test::read_file;
using test::resumed_from;
using test::TemporaryFolder;
using test::timeless_lines;
using test::train_quietly;
using Names = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_same_tensors(const std::vector<checkpoint::NamedTensor>& actual,
                         const std::vector<checkpoint::NamedTensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].name, expected[i].name);
    ASSERT_EQ(actual[i].tensor.shape, expected[i].tensor.shape);
    EXPECT_EQ(
        std::memcmp(actual[i].tensor.data, expected[i].tensor.data, expected[i].tensor.num_bytes()),
        0)
        << expected[i].name;
  }
}

TEST(TrainRunTest, LeavesACompleteRunFolder) {
  const TemporaryFolder folder;
  const TrainRequest request = make_request(folder.path(), kSmallRun, {{"tag", "small"}});
  const TrainReport report = train_quietly(request);
  EXPECT_EQ(report.run_dir.parent_path(), folder.path() / "runs");
  EXPECT_TRUE(report.run_dir.filename().string().ends_with("_small"));
  EXPECT_EQ(fs::canonical(folder.path() / "runs" / "latest"), fs::canonical(report.run_dir));
  EXPECT_EQ(file_names(report.run_dir),
            (Names{"checkpoints", "config_resolved.yaml", "metrics.jsonl", "summary.json",
                   "system.json", "train.log"}));
  EXPECT_EQ(file_names(report.run_dir / "checkpoints"),
            (Names{"best.pt", "checkpoint_epoch_000.pt", "checkpoint_epoch_001.pt",
                   "checkpoint_epoch_002.pt", "last.pt"}));
  EXPECT_EQ(timeless_lines(report.run_dir / "metrics.jsonl").size(), 2 * (6 + 2) + 1);
  config::Loaded resolved = request.config;
  resolved.config.distributed.shards = 1;  // of a process alone
  EXPECT_EQ(read_file(report.run_dir / "config_resolved.yaml"), config::dump(resolved));
  EXPECT_EQ(checkpoint::read(report.run_dir / "checkpoints" / "last.pt").config,
            config::dump(resolved));
}

TEST(TrainRunTest, ReportsWhatWasReached) {
  const TemporaryFolder folder;
  const TrainReport report = train_quietly(make_request(folder.path(), kSmallRun));
  EXPECT_EQ(report.epochs, 2);
  EXPECT_EQ(report.steps, 12);
  EXPECT_FALSE(report.stopped_early);
  EXPECT_EQ(report.best_metric, "validation loss");
  ASSERT_TRUE(report.best.has_value());
  const auto last = parse_json(timeless_lines(report.run_dir / "metrics.jsonl").back());
  EXPECT_EQ(last["split"], "test");
  EXPECT_EQ(last["epoch"], report.best->epoch);
  EXPECT_EQ(last["loss"], report.test.value().loss);
  EXPECT_EQ(last["accuracy"], metrics::find_score(report.test->scores, "accuracy"));
  EXPECT_EQ(last["f1"], metrics::find_score(report.test->scores, "f1"));
  const auto summary = parse_json(read_file(report.run_dir / "summary.json"));
  EXPECT_EQ(summary["epochs"], 2);
  EXPECT_EQ(summary["best"]["split"], "validation");
  EXPECT_EQ(summary["best"]["metric"], "loss");
  EXPECT_EQ(summary["test"]["loss"], report.test->loss);
  EXPECT_EQ(summary["test"]["confusion_matrix"]["labels"].size(), 3);
  EXPECT_GT(report.time_seconds, 0);
}

TEST(TrainRunTest, EachMetricOfClassesChoosesTheBestEpoch) {
  const TemporaryFolder folder;
  for (const char* metric :
       {"log_loss", "balanced_accuracy", "f1", "binary_f1", "auroc", "pr_auc"}) {
    const TrainReport report = train_quietly(make_request(folder.path(), kSmallRun,
                                                          {{"training.best_metric", metric},
                                                           {"data.synthetic.num_classes", "2"},
                                                           {"data.validation_fraction", "0.3"}}));
    EXPECT_EQ(report.best_metric, std::string("validation ") + metric);
    const auto value = metrics::find_score(report.validation->scores, metric);
    ASSERT_TRUE(value.has_value()) << metric;
    EXPECT_DOUBLE_EQ(report.best->value, *value) << metric;
    const auto log_loss = metrics::find_score(report.validation->scores, "log_loss");
    EXPECT_NEAR(*log_loss, report.validation->loss, 1e-6);
  }
}

TEST(TrainRunTest, TheLogBeginsWithWhatDecidesTheRun) {
  const TemporaryFolder folder;
  const TrainReport report = train_quietly(make_request(folder.path(), kSmallRun));
  const std::string log = read_file(report.run_dir / "train.log");
  for (const char* line :
       {"device      cpu (as configured)", "precision   fp32", "threads     1 (as configured)",
        "step        fused (",
        "data        5 features, target \"class\": 3 classes (classification)",
        "rows        48 train, 6 validation, 6 test",
        "model       5-8-8-3 batch norm, relu, dropout 0.1; 179 parameters",
        "training    2 epochs of 6 steps, effective batch 8, adamw, learning rate 0.01 (cosine)",
        "epoch 1/2  loss ", "epoch 2/2  loss "}) {
    EXPECT_TRUE(contains(log, line)) << line << "\nis not in\n" << log;
  }
}

TEST(TrainRunTest, SystemJsonHasAnEntryForEachStart) {
  const TemporaryFolder folder;
  const TrainRequest request = make_request(folder.path(), kSmallRun);
  const TrainReport report = train_quietly(request);
  const fs::path file = report.run_dir / "checkpoints" / "checkpoint_epoch_001.pt";
  train_quietly(resumed_from(request, file));
  const auto system = parse_json(read_file(report.run_dir / "system.json"));
  ASSERT_EQ(system["starts"].size(), 2U);
  EXPECT_EQ(system["starts"][0]["command_line"], "trainer train");
  EXPECT_EQ(system["starts"][0]["device"], "cpu");
  EXPECT_EQ(system["starts"][0]["threads"], 1);
  EXPECT_TRUE(system["starts"][0]["step"].get<std::string>().starts_with("fused ("));
  EXPECT_FALSE(system["starts"][0].contains("resumed_from"));
  EXPECT_EQ(system["starts"][1]["resumed_from"], file.string());
  EXPECT_EQ(system["data_files"], Json::array());
  EXPECT_TRUE(system["accelerators"].is_array());
}

TEST(TrainRunTest, AResumedRunGoesOnInItsFolderWithoutRepeatingAStep) {
  const TemporaryFolder folder;
  const TrainReport straight =
      train_quietly(make_request(folder.path(), kSmallRun, {{"training.epochs", "4"}}));
  const TrainRequest request =
      make_request(folder.path(), kSmallRun, {{"training.epochs", "4"}, {"tag", "broken_off"}});
  const fs::path run = train_quietly(request).run_dir;
  const std::vector<std::string> before = timeless_lines(run / "metrics.jsonl");
  const fs::path saved = run / "checkpoints" / "checkpoint_epoch_002.pt";

  const TrainReport report = train_quietly(resumed_from(request, saved));

  EXPECT_EQ(report.run_dir, run);
  EXPECT_EQ(report.epochs, 4);
  EXPECT_EQ(report.steps, 24);
  EXPECT_EQ(timeless_lines(run / "metrics.jsonl"), before);
  EXPECT_EQ(before, timeless_lines(straight.run_dir / "metrics.jsonl"));
  const auto expected = checkpoint::read(straight.run_dir / "checkpoints" / "last.pt");
  const auto actual = checkpoint::read(run / "checkpoints" / "last.pt");
  expect_same_tensors(actual.model, expected.model);
  for (std::size_t i = 0; i < expected.moments.size(); ++i) {
    expect_same_tensors(actual.moments[i].tensors, expected.moments[i].tensors);
  }
  // The only record after the last checkpoint is that of the test part.
  const std::string rest = read_file(run / "metrics.jsonl").substr(actual.metrics_bytes);
  EXPECT_EQ(parse_json(rest)["split"], "test");
}

TEST(TrainRunTest, TheTestedWeightsAreThoseOfTheBestEpochAfterAnotherCourseToo) {
  const TemporaryFolder folder;
  const TrainReport first = train_quietly(make_request(folder.path(), kSmallRun));
  ASSERT_EQ(first.best.value().epoch, 2);  // best.pt is of an epoch that the resume gives up
  TrainRequest request =
      resumed_from(make_request(folder.path(), kSmallRun, {{"training.learning_rate", "100"}}),
                   first.run_dir / "checkpoints" / "checkpoint_epoch_001.pt");
  request.on_change = OnChange::kAllow;
  const TrainReport report = train_quietly(request);
  const auto tested = parse_json(timeless_lines(report.run_dir / "metrics.jsonl").back());
  EXPECT_EQ(tested["split"], "test");
  EXPECT_EQ(tested["epoch"], report.best.value().epoch);
  const auto best = checkpoint::read(report.run_dir / "checkpoints" / "best.pt");
  EXPECT_EQ(best.state.best.value().epoch, report.best->epoch);
  EXPECT_EQ(best.state.best->value, report.best->value);
}

TEST(TrainRunTest, MoreEpochsExtendACompleteRun) {
  const TemporaryFolder folder;
  const TrainReport first = train_quietly(make_request(folder.path(), kSmallRun));
  const auto before = timeless_lines(first.run_dir / "metrics.jsonl");
  const fs::path last = first.run_dir / "checkpoints" / "last.pt";
  const TrainReport report = train_quietly(
      resumed_from(make_request(folder.path(), kSmallRun, {{"training.epochs", "3"}}), last));
  EXPECT_EQ(report.run_dir, first.run_dir);
  EXPECT_EQ(report.steps, 18);
  const auto after = timeless_lines(first.run_dir / "metrics.jsonl");
  ASSERT_EQ(after.size(), before.size() + 8);
  // The record of the test part was cut off and written anew at the end.
  EXPECT_TRUE(std::equal(before.begin(), before.end() - 1, after.begin()));
  EXPECT_EQ(parse_json(after[before.size() - 1])["step"], 13);
}

TEST(TrainRunTest, ACompleteRunIsOnlyTestedAgain) {
  const TemporaryFolder folder;
  const TrainRequest request = make_request(folder.path(), kSmallRun);
  const TrainReport first = train_quietly(request);
  const auto before = timeless_lines(first.run_dir / "metrics.jsonl");
  const TrainReport again =
      train_quietly(resumed_from(request, first.run_dir / "checkpoints" / "last.pt"));
  EXPECT_EQ(again.steps, 12);
  EXPECT_EQ(again.best.value().epoch, first.best.value().epoch);
  EXPECT_EQ(again.test.value().loss, first.test.value().loss);
  EXPECT_FALSE(again.has_written);
  EXPECT_EQ(timeless_lines(first.run_dir / "metrics.jsonl"), before);
}

TEST(TrainRunTest, ACheckpointOutsideARunFolderBeginsANewRun) {
  const TemporaryFolder folder;
  const TrainRequest request = make_request(folder.path(), kSmallRun);
  const TrainReport first = train_quietly(request);
  const auto lines = timeless_lines(first.run_dir / "metrics.jsonl");
  const fs::path elsewhere = folder.path() / "elsewhere.pt";
  fs::copy_file(first.run_dir / "checkpoints" / "checkpoint_epoch_001.pt", elsewhere);

  const TrainReport second = train_quietly(resumed_from(request, elsewhere));

  EXPECT_NE(second.run_dir, first.run_dir);
  EXPECT_EQ(second.run_dir.parent_path(), first.run_dir.parent_path());
  EXPECT_EQ(second.epochs, 2);
  EXPECT_EQ(second.best.value().epoch, 2);
  EXPECT_EQ(file_names(second.run_dir / "checkpoints"),
            (Names{"best.pt", "checkpoint_epoch_001.pt", "checkpoint_epoch_002.pt", "last.pt"}));
  // A kill right after the start finds the state that was taken over, with the new metrics.jsonl.
  const auto taken = checkpoint::read(second.run_dir / "checkpoints" / "checkpoint_epoch_001.pt");
  EXPECT_EQ(taken.metrics_bytes, 0U);
  const auto new_lines = timeless_lines(second.run_dir / "metrics.jsonl");
  ASSERT_EQ(new_lines.size(), 8U + 1U);
  EXPECT_TRUE(std::equal(new_lines.begin(), new_lines.end() - 1, lines.begin() + 8));
  EXPECT_EQ(timeless_lines(first.run_dir / "metrics.jsonl"), lines);
}

TEST(TrainRunTest, NothingIsWrittenBeforeTheDataAreKnownToBeGood) {
  const TemporaryFolder folder;
  const TrainRequest request =
      make_request(folder.path(), "data: {source: csv, path: absent.csv, target: y}");
  EXPECT_EQ(test::error_of([&] { train(request); }).kind(), ErrorKind::kData);
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

TEST(TrainRunTest, AnAbsentDeviceIsAnErrorWhereItIsForbiddenToReplaceIt) {
  const TemporaryFolder folder;
  const TrainRequest request =
      make_request(folder.path(), kSmallRun, {{"device", "cuda:63"}, {"device_fallback", "false"}});
  const Error error = test::error_of([&] { train(request); });
  EXPECT_EQ(error.kind(), ErrorKind::kDevice);
  EXPECT_TRUE(contains(error.what(), "device cuda:63 is not available (available: "))
      << error.what();
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

}  // namespace
}  // namespace trainer::engine
