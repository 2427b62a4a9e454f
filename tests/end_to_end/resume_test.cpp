// SPDX-License-Identifier: Apache-2.0
// Going on with a run, as a user and a job scheduler do it with the real program.
#include <signal.h>

#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/signals.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/compare.h"
#include "trainer/run/folder/metrics_log.h"

#include "support/files.h"
#include "support/metrics_records.h"
#include "support/program_test.h"
#include "support/python.h"
#include "support/running_program.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::kSource;
using test::kTrainer;
using test::Moments;
using test::ProcessResult;
using test::RunningProgram;
using test::trainer_in;

void expect_same_metrics(const fs::path& whole, const fs::path& parts) {
  const auto difference = run::first_difference(whole / "metrics.jsonl", parts / "metrics.jsonl");
  EXPECT_FALSE(difference.has_value()) << *difference;
}

TEST(ResumeTest, AResumedRunEndsAsTheUninterruptedOne) {
  const test::TemporaryFolder folder;
  const std::string arguments =
      test::with_config("train.yaml") + "training.schedule.name=constant ";
  ASSERT_EQ(trainer_in(folder.path(), arguments + "--epochs 4 --output-dir whole").exit_code, 0);
  ASSERT_EQ(trainer_in(folder.path(), arguments + "--epochs 2 --output-dir parts").exit_code, 0);
  const ProcessResult resumed = trainer_in(folder.path(), "--resume parts/latest --epochs 4");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  expect_same_metrics(folder.path() / "whole/latest", folder.path() / "parts/latest");
}

// A condition to wait for: the run that `latest` names has recorded its first step.
auto has_started(const fs::path& latest) {
  return [metrics = latest / "metrics.jsonl"] {
    std::error_code not_yet;
    const auto size = fs::file_size(metrics, not_yet);
    return !not_yet && size > 0;
  };
}

TEST(ResumeTest, AStoppedRunIsSavedWithinAnEpochAndEndsAsTheUninterruptedOne) {
  const std::string arguments =
      "-q data.synthetic.num_samples=10000 model.dropout=0.2 logging.save_interval=1 "
      "training.schedule.name=constant ";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const test::TemporaryFolder folder;
    RunningProgram run(folder.path(), arguments + "--epochs 100000 --output-dir parts",
                       Moments::kHeld);
    ASSERT_TRUE(run.go_on_until(has_started(folder.path() / "parts/latest")));
    run.send(signal);
    const ProcessResult stopped = run.finish();
    EXPECT_EQ(stopped.exit_code, 128 + signal) << stopped.err;
    EXPECT_NE(stopped.err.find(std::string("warning: stopped by ") + signal_name(signal) +
                               "; resume with: trainer --resume parts/"),
              std::string::npos)
        << stopped.out;
    // However late the signal came on this machine: one epoch more than was started.
    const auto records = test::metrics_records(folder.path() / "parts/latest/metrics.jsonl");
    const auto started = records.back()["epoch"].get<int64_t>();
    const std::string epochs = " --epochs " + std::to_string(started + 1);
    const ProcessResult resumed = trainer_in(folder.path(), "--resume parts/latest" + epochs);
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    ASSERT_EQ(trainer_in(folder.path(), arguments + epochs + " --output-dir whole").exit_code, 0);
    expect_same_metrics(folder.path() / "whole/latest", folder.path() / "parts/latest");
  }
}

TEST(ResumeTest, ASignalThatWasIgnoredFromTheStartStopsNothing) {
  const test::TemporaryFolder folder;
  RunningProgram run(folder.path(),
                     "--epochs 300 data.synthetic.num_samples=100 logging.save_interval=1",
                     Moments::kHeld, "trap '' HUP;");
  ASSERT_TRUE(run.go_on_until(has_started(folder.path() / "runs/latest")));
  run.send(SIGHUP);
  const ProcessResult result = run.finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("trained     300 epochs"), std::string::npos) << result.out;
}

TEST(ResumeTest, WhatToTypeNextCanBeTyped) {
  const test::TemporaryFolder folder;
  RunningProgram run(folder.path(),
                     "--epochs 100000 logging.save_interval=1 output_dir=\"two words\"",
                     Moments::kHeld);
  ASSERT_TRUE(run.go_on_until(has_started(folder.path() / "two words/latest")));
  run.send(SIGTERM);
  const ProcessResult stopped = run.finish();
  EXPECT_EQ(stopped.exit_code, 143) << stopped.err;
  EXPECT_NE(
      stopped.out.find(
          "stopped     by SIGTERM; resume with: trainer --resume '" +
          ("two words" / fs::read_symlink(folder.path() / "two words/latest")).string() + "'\n"),
      std::string::npos)
      << stopped.out;
}

TEST(ResumeTest, OfSeveralThatBeginOneRunAtOnceOneDoes) {
  const test::TemporaryFolder folder;
  const ProcessResult result =
      test::run_process("sh -c 'cd " + folder.path().string() + "; for i in 1 2 3 4; do " +
                        kTrainer + " -q --resume auto --epochs 20 & done; wait'");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "runs"), {}), 2) << result.err;
  const std::string run = fs::canonical(folder.path() / "runs/latest").string();
  for (const std::string& line : test::lines_of(result.err)) {
    EXPECT_TRUE(
        line == "error: " + run +
                    ": another process has started this run; wait until it has finished" ||
        line == "error: " + run +
                    ": another process is using this folder; wait until it has finished" ||
        line == "error: " + (folder.path() / "runs").string() +
                    ": another process has created this run; start the command again to resume it")
        << line;
  }
}

TEST(ResumeTest, AutoBeginsARunAnewWhenItIsToBeginWithOtherWeights) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), "--epochs 1 --output-dir first").exit_code, 0);
  const std::string arguments = "-q --resume auto --epochs 1";
  ASSERT_EQ(trainer_in(folder.path(), arguments).exit_code, 0);
  const std::string from = " model.init_from=first/latest/checkpoints/best.pt";
  ASSERT_EQ(trainer_in(folder.path(), arguments + from).exit_code, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "runs"), {}), 3);
  ASSERT_EQ(trainer_in(folder.path(), arguments + from).exit_code, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "runs"), {}), 3);
}

TEST(ResumeTest, AnotherTargetIsRefusedWhoeverAllowsIt) {
  const test::TemporaryFolder folder;
  const std::string config = test::with_config("penguins.yaml");
  ASSERT_EQ(trainer_in(folder.path(), config + " -q --epochs 1").exit_code, 0);
  const ProcessResult refused = trainer_in(
      folder.path(), "--resume runs/latest data.target=island --epochs 2 --allow-changes");
  EXPECT_EQ(refused.exit_code, 7);
  EXPECT_NE(refused.err.find(
                ": the run was trained with other data:\n"
                "  target: species before, island now\n"
                "  labels: Adelie, Chinstrap and Gentoo before, Biscoe, Dream and Torgersen now\n"),
            std::string::npos)
      << refused.err;
  EXPECT_TRUE(refused.err.ends_with(
      "target, task, labels and features of a run cannot change; start a new run, which can use "
      "these weights (model.init_from)\n"))
      << refused.err;
}

TEST(ResumeTest, AFolderOfRunsIsNoRunButNamesThem) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), "-q --epochs 1").exit_code, 0);
  const std::string run = "runs" / fs::read_symlink(folder.path() / "runs/latest");
  for (const std::string command : {"--resume runs", "eval runs", "verify runs"}) {
    const ProcessResult result = trainer_in(folder.path(), command);
    EXPECT_EQ(result.exit_code, 7) << command;
    EXPECT_EQ(result.err, "error: runs: no such checkpoint; specify a run: " + run + "\n")
        << command;
  }
  fs::remove(folder.path() / "runs/latest");
  fs::create_symlink("gone", folder.path() / "runs/latest");
  EXPECT_EQ(trainer_in(folder.path(), "inspect runs/latest").err,
            "error: runs/latest: no such checkpoint; specify a run: " + run + "\n");
}

TEST(ResumeTest, TheShortFormOfACheckpointIsFoundAndNeedsNoConfiguration) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), "--epochs 2").exit_code, 0);
  const ProcessResult resumed = trainer_in(folder.path(), "--resume runs/latest/best.pt");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resumed     runs/latest/checkpoints/best.pt at epoch 2"),
            std::string::npos)
      << resumed.err;
  EXPECT_NE(resumed.err.find("this run is already complete"), std::string::npos);
}

// Each file of a folder with its bytes and its time.
std::map<std::string, std::pair<std::string, fs::file_time_type>> files_of(const fs::path& folder) {
  std::map<std::string, std::pair<std::string, fs::file_time_type>> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_symlink()) files[entry.path()].first = fs::read_symlink(entry.path());
    if (!entry.is_regular_file() || entry.is_symlink()) continue;
    files[entry.path()] = {test::read_file(entry.path()), entry.last_write_time()};
  }
  return files;
}

TEST(ResumeTest, AResumeThatTrainsNothingChangesNoFile) {
  const test::TemporaryFolder folder;
  const std::string arguments =
      test::with_config("train.yaml") + "logging.report=true logging.tensorboard=true ";
  const ProcessResult first = trainer_in(folder.path(), arguments + "--epochs 3 --tag a");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string run = fs::canonical(folder.path() / "runs/latest").string();
  ASSERT_EQ(trainer_in(folder.path(), "--epochs 1 --tag b").exit_code, 0);
  const auto before = files_of(folder.path());
  for (const std::string resume : {"", " --epochs 2", " --timing", " logging.format=json",
                                   "/checkpoint_epoch_002.pt --epochs 2"}) {
    const ProcessResult again = trainer_in(folder.path(), "--resume " + run + resume);
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_NE(again.err.find("this run is already complete\n"), std::string::npos) << again.err;
    EXPECT_EQ(files_of(folder.path()), before) << resume;
  }
}

TEST(ResumeTest, WhatCameAfterAnOlderCheckpointIsKept) {
  const test::TemporaryFolder folder;
  const std::string arguments = test::with_config("train.yaml");
  ASSERT_EQ(trainer_in(folder.path(), arguments + "--epochs 4").exit_code, 0);
  const fs::path run = fs::canonical(folder.path() / "runs/latest");
  const auto records = test::read_file(run / "metrics.jsonl");
  const auto weights = test::read_file(run / "checkpoints/last.pt");
  const ProcessResult resumed =
      trainer_in(folder.path(), "--resume runs/latest/checkpoint_epoch_002.pt");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(std::regex_search(
      resumed.err, std::regex("what came after epoch 2, step [0-9,]+ is kept in " + run.string() +
                              "/superseded/1 \\(epochs 3 to 4: [0-9]+ records, [0-9]+ "
                              "checkpoints, results\\)\n")))
      << resumed.err;
  const std::string later = test::read_file(run / "superseded/1/metrics.jsonl");
  EXPECT_TRUE(records.ends_with(later));
  EXPECT_EQ(test::read_file(run / "superseded/1/checkpoints/last.pt"), weights);
  EXPECT_EQ(
      checkpoint::first_difference(checkpoint::read(run / "superseded/1/checkpoints/last.pt"),
                                   checkpoint::read(run / "checkpoints/checkpoint_epoch_004.pt")),
      std::nullopt);
  const ProcessResult shown = trainer_in(folder.path(), "runs show latest");
  EXPECT_NE(shown.out.find("superseded  superseded/1, epochs 3 to 4: "), std::string::npos)
      << shown.out;
  // In a run folder of its own.
  const ProcessResult other =
      trainer_in(folder.path(), "--resume " + (run / "superseded/1").string() + " --epochs 5");
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_NE(fs::canonical(folder.path() / "runs/latest"), run);
}

// As after a crash between the summary and the end in system.json.
TEST(ResumeTest, AnEndThatIsDoneAgainSupersedesNothing) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), "-q --epochs 1").exit_code, 0);
  const fs::path run = folder.path() / "runs/latest";
  fs::remove(run / "system.json");
  ASSERT_EQ(trainer_in(folder.path(), "-q --resume runs/latest").exit_code, 0);
  EXPECT_FALSE(fs::exists(run / "superseded"));
  EXPECT_TRUE(fs::exists(run / "summary.json"));
}

TEST(ResumeTest, WhatAProcessLeftThatWasKilledBeforeItsFirstCheckpointIsRemoved) {
  const test::TemporaryFolder folder;
  const fs::path killed = folder.path() / "runs/20260101_000000";
  folder.write("runs/20260101_000000/.config_resolved.yaml.tmp-4711", "");
  folder.write("runs/20260101_000000/checkpoints/.checkpoint_epoch_000.pt.tmp-4711", "a part");
  ASSERT_EQ(trainer_in(folder.path(), "-q --epochs 1").exit_code, 0);
  EXPECT_FALSE(test::has_temporary_files(killed));
}

TEST(ResumeTest, OtherEpochsSayWhereTheLearningRateGoesOn) {
  const test::TemporaryFolder folder;
  const std::string cosine = "data.synthetic.num_samples=200 training.schedule.name=cosine ";
  ASSERT_EQ(trainer_in(folder.path(), cosine + "--epochs 2").exit_code, 0);
  const ProcessResult resumed = trainer_in(folder.path(), "--resume runs/latest --epochs 4");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(std::regex_search(
      resumed.err,
      std::regex("\ntraining.epochs: 2 before, 4 now: the schedule \\(cosine\\) spans all of "
                 "them, so the learning rate goes on with [0-9.e-]+, after [0-9.e-]+\n")))
      << resumed.err;
  const ProcessResult same = trainer_in(folder.path(), "--resume runs/latest --epochs 4");
  EXPECT_EQ(same.err.find("training.epochs:"), std::string::npos) << same.err;
}

TEST(ResumeTest, AChangedLearningRateIsRefusedOnResume) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), "--epochs 1").exit_code, 0);
  const ProcessResult refused =
      trainer_in(folder.path(), "--resume runs/latest/last.pt --epochs 2 --lr 0.5");
  EXPECT_EQ(refused.exit_code, 7);
  EXPECT_EQ(refused.err,
            "error: runs/latest/checkpoints/last.pt: the configuration or data differ from those "
            "of the checkpoint:\n"
            "  training.learning_rate: 0.001 before, 0.5 now\n"
            "undo the changes, pass --allow-changes to resume anyway, or start a new run: without "
            "--resume, or with another --tag for --resume auto\n");
  const ProcessResult allowed =
      trainer_in(folder.path(), "--resume runs/latest/last.pt --epochs 2 --lr 0.5 --allow-changes");
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
}

TEST(ResumeTest, Sigusr1SavesAndTheRunGoesOn) {
  const test::TemporaryFolder folder;
  const fs::path latest = folder.path() / "runs/latest";
  RunningProgram run(folder.path(),
                     "--epochs 100000 data.synthetic.num_samples=10000 logging.save_interval=1",
                     Moments::kHeld);
  ASSERT_TRUE(run.go_on_until(has_started(latest)));
  run.send(SIGUSR1);
  ASSERT_TRUE(run.go_on_until(
      [&] { return test::read_file(latest / "train.log").find("SIGUSR1") != std::string::npos; }));
  run.send(SIGTERM);
  const ProcessResult result = run.finish();
  EXPECT_EQ(result.exit_code, 143) << result.err;
  EXPECT_TRUE(std::regex_search(
      result.err, std::regex("saved .*/checkpoints/last\\.pt after step [0-9,]+ \\(SIGUSR1\\)\n")))
      << result.err;
}

TEST(ResumeTest, AutoBeginsARunThenGoesOnWithItThenSaysThatItIsComplete) {
  const test::TemporaryFolder folder;
  const std::string arguments = "--seed 5 --resume auto --epochs ";
  const ProcessResult first = trainer_in(folder.path(), arguments + "1");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.err.find("resumed"), std::string::npos) << first.err;
  const ProcessResult second = trainer_in(folder.path(), arguments + "2");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  // Behind the line that says what is kept of the run of one epoch: its results.
  EXPECT_TRUE(second.err.starts_with("what came after epoch 1, step 25 is kept in ")) << second.err;
  EXPECT_NE(second.err.find("\n---------- resumed ----------\n"), std::string::npos) << second.err;
  EXPECT_NE(second.err.find("/checkpoints/last.pt at epoch 1, step "), std::string::npos)
      << second.err;
  const ProcessResult third = trainer_in(folder.path(), arguments + "2");
  ASSERT_EQ(third.exit_code, 0) << third.err;
  EXPECT_NE(third.err.find("this run is already complete\n"), std::string::npos) << third.err;
  // One run folder, and the link to it.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "runs"), {}), 2);
  ASSERT_EQ(trainer_in(folder.path(), "--seed 6 --resume auto --epochs 1").exit_code, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "runs"), {}), 3);
}

TEST(ResumeTest, ADamagedNewestCheckpointGivesWayToTheOneBefore) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), "--epochs 3 --tag whole").exit_code, 0);
  const fs::path whole = fs::canonical(folder.path() / "runs/latest");
  ASSERT_EQ(trainer_in(folder.path(), "--epochs 3").exit_code, 0);
  const fs::path run = folder.path() / "runs/latest";
  // Epoch 3 loses its end; last.pt and perhaps best.pt are the same bytes.
  fs::resize_file(run / "checkpoints/last.pt", 1000);
  const ProcessResult file = trainer_in(folder.path(), "--resume runs/latest/last.pt");
  EXPECT_EQ(file.exit_code, 7);
  const std::string problem =
      "last.pt: expected the end of a zip directory in the last 22 bytes, got something else; the "
      "file is damaged or truncated, use an older checkpoint\n";
  EXPECT_EQ(file.err, "error: runs/latest/checkpoints/" + problem);
  const ProcessResult resumed = trainer_in(folder.path(), "--resume runs/latest");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(resumed.err.starts_with("warning: runs/latest/checkpoints/" + problem))
      << resumed.err;
  EXPECT_NE(resumed.err.find("warning: resuming from an older checkpoint, "
                             "runs/latest/checkpoints/checkpoint_epoch_002.pt at epoch 2, step "),
            std::string::npos)
      << resumed.err;
  expect_same_metrics(whole, run);
}

TEST(ResumeTest, TwoProcessesDoNotWorkInOneRunFolder) {
  const test::TemporaryFolder folder;
  const fs::path latest = folder.path() / "runs/latest";
  RunningProgram run(folder.path(),
                     "-q --epochs 100000 data.synthetic.num_samples=10000 logging.save_interval=1",
                     Moments::kHeld);
  ASSERT_TRUE(run.go_on_until(has_started(latest)));
  const ProcessResult result = trainer_in(folder.path(), "--resume runs/latest");
  EXPECT_EQ(result.exit_code, 8);
  EXPECT_EQ(result.err, "error: " + fs::canonical(latest).string() +
                            ": another process is using this folder; wait until it has finished\n");
}

TEST(ResumeTest, WeightsThatCannotBeReadEndWithSevenAndMakeNothing) {
  const test::TemporaryFolder folder;
  const ProcessResult result = trainer_in(folder.path(), "model.init_from=none.pt");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.err, "error: " + (folder.path() / "none.pt").string() +
                            ": cannot be opened: No such file or directory\n");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

// The usual order: weights of one run, a new head, the layers below it frozen.
TEST(ResumeTest, ARunBeginsWithTheWeightsOfAnotherAndTrainsItsHeadOnly) {
  const test::TemporaryFolder folder;
  const std::string common = "model.hidden_sizes=[16,16] ";
  ASSERT_EQ(trainer_in(folder.path(), common + "--epochs 2 --tag first").exit_code, 0);
  fs::rename(fs::canonical(folder.path() / "runs/latest"), folder.path() / "first");
  const ProcessResult result = trainer_in(
      folder.path(), common +
                         "--epochs 1 data.synthetic.num_classes=3 "
                         "model.init_from=first/checkpoints/best.pt 'model.init_skip=[layers.2.*]' "
                         "'training.freeze=[layers.0.*, layers.1.*]'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("weights     from " + (folder.path() / "first").string()),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("; 499 parameters, 448 frozen\n"), std::string::npos) << result.err;
  const auto first = checkpoint::read(folder.path() / "first/checkpoints/best.pt");
  const auto second = checkpoint::read(folder.path() / "runs/latest/checkpoints/last.pt");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(second.model[i].name, first.model[i].name);
    EXPECT_EQ(std::memcmp(second.model[i].tensor.data, first.model[i].tensor.data,
                          first.model[i].tensor.num_bytes()),
              0)
        << first.model[i].name;
  }
  EXPECT_EQ(second.model[4].tensor.shape, (std::vector<int64_t>{3, 16}));
}

// The script makes its own modules with PyTorch's names and says what does not fit.
class PythonWeightsTest : public test::ProgramTest {
 protected:
  void SetUp() override {
    const std::string missing = test::missing_for(kScript);
    if (!missing.empty()) GTEST_SKIP() << missing;
  }

  void run(const std::string& arguments) const {
    const ProcessResult result = test::run_process("cd " + folder_.path().string() + " && " +
                                                   test::python_script(kScript) + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }

  static constexpr const char* kScript = "end_to_end/python_weights.py";
};

TEST_F(PythonWeightsTest, ASmallModuleLoadsTheBestCheckpointAndPredicts) {
  const std::string config = test::with_config("train.yaml");
  ASSERT_EQ(trainer(config).exit_code, 0);
  run("predict runs/latest/checkpoints/best.pt " + (kSource / "configs/data/digits.csv").string());
}

TEST_F(PythonWeightsTest, ARunBeginsWithWeightsThatPythonWrote) {
  for (const char* kind : {"module", "sequential"}) {
    run(std::string("write ") + kind + " weights.pt");
    const ProcessResult result = trainer(
        "--epochs 1 model.hidden_sizes=[16,8] model.norm=batch model.init_from=weights.pt "
        "'training.freeze=[layers.*.weight, layers.*.bias]'");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    run("compare weights.pt runs/latest/checkpoints/last.pt");
  }
}

}  // namespace
}  // namespace trainer
