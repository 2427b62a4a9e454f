// SPDX-License-Identifier: Apache-2.0
// Drives the real program, as a user does.
#include <sys/stat.h>

#include <filesystem>
#include <regex>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/checkpoints.h"
#include "support/metrics_records.h"
#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/test_accuracy.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::kSource;
using test::ProcessResult;
using test::test_accuracy;
using test::trainer_in;

TEST(TrainerTest, AnArgumentThatIsNoTextIsRefused) {
  const ProcessResult result =
      test::run_process(std::string(test::kTrainer) + " data.path=caf\xe9/x.csv");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: command line: expected UTF-8 text, got \"data.path=caf\\xe9/x.csv\"; rename "
            "the file or folder\n");
}

TEST(TrainerTest, HelpAndVersionAnswerOnStandardOutput) {
  const test::TemporaryFolder folder;
  const ProcessResult help = trainer_in(folder.path(), "--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_NE(help.out.find("\nUsage: trainer --config FILE "), std::string::npos);
  const ProcessResult version = trainer_in(folder.path(), "--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out.rfind("trainer ", 0), 0U);
}

#ifdef __linux__
TEST(TrainerTest, WhatNeedsNoTensorsDoesNotLoadLibtorch) {
  const test::TemporaryFolder folder;
  checkpoint::write(folder.path() / "good.pt", test::sound_checkpoint());
  const std::string config = test::with_config("train.yaml");
  for (const std::string& arguments :
       {std::string("--help"), std::string("--version"), config + " --print-config",
        config + " --lr fast", "config schedule " + config, std::string("verify good.pt"),
        std::string("runs list ."), std::string("completion bash"), std::string("manual"),
        "__complete fish " + config + " data.target=",
        std::string("__complete bash 'trainer eval runs/' runs/"),
        "init --output - --target digit --data " +
            (kSource / "configs/data/digits.csv").string()}) {
    const ProcessResult result = trainer_in(folder.path(), arguments, "LD_DEBUG=files");
    EXPECT_NE(result.err.find("libtrainer_core"), std::string::npos) << arguments;
    EXPECT_EQ(result.err.find("libtorch"), std::string::npos) << arguments;
    EXPECT_EQ(result.err.find("libc10"), std::string::npos) << arguments;
  }
}

// The library of the copy is a pipe that nobody writes to, so that loading it takes forever.
TEST(TrainerTest, WhatIsWrongWithTheDataIsSaidBeforeLibTorchIsLoaded) {
  const test::TemporaryFolder folder;
  const std::string program = test::copy_without_engine(folder.path());
  ASSERT_EQ(mkfifo((folder.path() / "lib/libtrainer_engine.so").c_str(), 0600), 0);
  folder.write("x.csv", "a,y\n1,0\n2,?\n");
  folder.write("x.yaml", "data: {source: csv, path: x.csv, target: z}\n");
  const ProcessResult result =
      test::run_process("cd " + folder.path().string() + " && " + program + " --config x.yaml");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "error: " + (folder.path() / "x.csv").string() +
                ":1: data.target: column \"z\" is not in the header; the header has a and "
                "y\n");
}
#endif

TEST(TrainerTest, ABadConfigurationEndsWithTwoAndMakesNothing) {
  const test::TemporaryFolder folder;
  folder.write("bad.yaml", "training: {learning_rate: fast}\ntrainnig: 1\n");
  const ProcessResult result = trainer_in(folder.path(), "--config bad.yaml");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "error: bad.yaml:1: training.learning_rate: expected a number > 0, got \"fast\"\n"
            "bad.yaml:2: trainnig: unknown key; did you mean \"training\"?\n");
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

TEST(TrainerTest, NothingToDoIsAUsageError) {
  const test::TemporaryFolder folder;
  const ProcessResult result = trainer_in(folder.path(), "");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: expected a configuration, got nothing; try trainer --config "
            "configs/train.yaml, or trainer --help\n");
}

TEST(TrainerTest, APrintedConfigurationCanBeFedBack) {
  const test::TemporaryFolder folder;
  const std::string config = (kSource / "configs/train.yaml").string();
  const ProcessResult first =
      trainer_in(folder.path(), "--config " + config + " --lr 5e-4 --print-config");
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_NE(first.out.find("learning_rate: 0.0005"), std::string::npos);
  folder.write("printed.yaml", first.out);
  const ProcessResult again = trainer_in(folder.path(), "config print --config printed.yaml");
  EXPECT_EQ(again.exit_code, 0);
  const std::regex comment(" +#.*");
  EXPECT_EQ(std::regex_replace(again.out, comment, ""), std::regex_replace(first.out, comment, ""));
}

TEST(TrainerTest, BadDataEndsWithThreeAndMakesNothing) {
  const test::TemporaryFolder folder;
  folder.write("data/bad.csv", "a,b,y\n1,2,x\n3,oops,z\n");
  const std::string common = "data.source=csv data.target=y ";
  const ProcessResult bad = trainer_in(folder.path(), common + "data.path=data/bad.csv");
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_EQ(bad.err,
            "error: " + (folder.path() / "data/bad.csv").string() +
                ":3: column \"b\": expected a number, got \"oops\"; "
                "correct it, add it to data.missing, or list the column in data.categorical "
                "or data.ignore\n");
  const ProcessResult missing = trainer_in(folder.path(), common + "data.path=none.csv");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.err, "error: " + (folder.path() / "none.csv").string() + ": no such file\n");
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

TEST(TrainerTest, AnAbsentDeviceEndsWithFourWhenFallbackIsForbidden) {
  const test::TemporaryFolder folder;
  const ProcessResult result =
      trainer_in(folder.path(), "--device cuda:99 device_fallback=false --epochs 1");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err.rfind("error: device cuda:99 is not available (available: cpu", 0), 0U)
      << result.err;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(TrainerTest, AnUnknownCheckpointEndsWithSeven) {
  const test::TemporaryFolder folder;
  const ProcessResult result = trainer_in(folder.path(), "--resume runs/best.pt");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.err,
            "error: runs/best.pt: no such checkpoint; there are no checkpoints in runs/\n");
  folder.write("text.pt", "this is no checkpoint, whatever its name says");
  const ProcessResult text = trainer_in(folder.path(), "--resume text.pt");
  EXPECT_EQ(text.exit_code, 7);
  EXPECT_EQ(text.err.rfind("error: text.pt: expected a zip file as written by torch.save, got a "
                           "file that starts with ",
                           0),
            0U)
      << text.err;
}

TEST(TrainerTest, AnOutputFolderThatCannotBeMadeEndsWithEight) {
  const test::TemporaryFolder folder;
  folder.write("file", "in the way");
  const ProcessResult result = trainer_in(folder.path(), "--epochs 1 --output-dir file/runs");
  EXPECT_EQ(result.exit_code, 8);
  EXPECT_EQ(result.err, "error: cannot create the folder " +
                            (folder.path() / "file/runs").string() +
                            ": Not a directory; choose another one with --output-dir\n");
}

TEST(TrainerTest, FiveStepsMakeAWholeRunFolder) {
  const test::TemporaryFolder folder;
  const ProcessResult result =
      trainer_in(folder.path(),
                 "--epochs 1 --tag five --device cpu data.synthetic.num_samples=200 "
                 "logging.save_interval=1");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err.find('\r'), std::string::npos);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_NE(result.err.find("1 epoch of 5 steps, effective batch 32"), std::string::npos)
      << result.err;
  const fs::path run = folder.path() / "runs" / "latest";
  EXPECT_TRUE(
      std::regex_match(fs::canonical(run).filename().string(), std::regex(R"(\d{8}_\d{6}_five)")));
  for (const char* name :
       {"config_resolved.yaml", "system.json", "metrics.jsonl", "train.log",
        "checkpoints/checkpoint_epoch_001.pt", "checkpoints/best.pt", "checkpoints/last.pt"}) {
    EXPECT_GT(fs::file_size(run / name), 0U) << name;
  }
  const auto system = parse_json(test::read_file(run / "system.json"));
  EXPECT_EQ(system["starts"].size(), 1U);
  EXPECT_EQ(system["starts"][0]["device"], "cpu");
  // Five training records, the epoch, validation and test.
  const std::string metrics = test::read_file(run / "metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 8) << metrics;
}

TEST(TrainerTest, TheSameSeedGivesTheSameBits) {
  const test::TemporaryFolder folder;
  const std::string arguments =
      "--epochs 2 model.dropout=0.3 model.norm=batch training.gradient_accumulation_steps=2 ";
  ASSERT_EQ(trainer_in(folder.path(), arguments + "--output-dir a").exit_code, 0);
  ASSERT_EQ(trainer_in(folder.path(), arguments + "--output-dir b").exit_code, 0);
  ASSERT_EQ(trainer_in(folder.path(), arguments + "--output-dir c --seed 7").exit_code, 0);
  const auto metrics = [&](const char* name) {
    return test::timeless_lines(folder.path() / name / "latest/metrics.jsonl");
  };
  EXPECT_EQ(metrics("a"), metrics("b"));
  EXPECT_NE(metrics("a"), metrics("c"));
}

TEST(TrainerTest, AResolvedConfigurationAloneReproducesARun) {
  const test::TemporaryFolder folder;
  const std::string config = test::with_config("train.yaml");
  ASSERT_EQ(trainer_in(folder.path(), config + " --epochs 2 --output-dir a").exit_code, 0);
  ASSERT_EQ(
      trainer_in(folder.path(), "--config a/latest/config_resolved.yaml --output-dir b").exit_code,
      0);
  EXPECT_EQ(test::timeless_lines(folder.path() / "a/latest/metrics.jsonl"),
            test::timeless_lines(folder.path() / "b/latest/metrics.jsonl"));
}

TEST(TrainerTest, DigitsReachNinetySevenPercent) {
  const test::TemporaryFolder folder;
  const ProcessResult result = trainer_in(folder.path(), test::with_config("train.yaml"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(test_accuracy(result.out), 97.0) << result.out;
}

TEST(TrainerTest, OneEpochOfFashionMnistReachesEightyPercent) {
  const test::TemporaryFolder folder;
  const std::string files = (folder.path() / "fashion").string();
  const ProcessResult fetched =
      test::run_process((kSource / "scripts/fetch_fashion_mnist.sh").string() + " " + files);
  if (fetched.exit_code != 0) GTEST_SKIP() << "no Fashion-MNIST here: " << fetched.err;
  const ProcessResult result = trainer_in(
      folder.path(), test::with_config("fashion_mnist.yaml") +
                         " --epochs 1 data.idx.train_images=fashion/train-images-idx3-ubyte.gz"
                         " data.idx.train_labels=fashion/train-labels-idx1-ubyte.gz"
                         " data.idx.test_images=fashion/t10k-images-idx3-ubyte.gz"
                         " data.idx.test_labels=fashion/t10k-labels-idx1-ubyte.gz");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("54,000 train, 6,000 validation, 10,000 test"), std::string::npos);
  EXPECT_GE(test_accuracy(result.out), 80.0) << result.out;
}

TEST(TrainerTest, ANonFiniteLossEndsWithSix) {
  const test::TemporaryFolder folder;
  const ProcessResult result =
      trainer_in(folder.path(),
                 "--lr 1e38 training.optimizer.name=sgd training.gradient_clip_norm=0 --epochs 3");
  EXPECT_EQ(result.exit_code, 6) << result.err;
  EXPECT_NE(result.err.find("lower training.learning_rate"), std::string::npos) << result.err;
}

TEST(TrainerTest, ARollbackIsToldInTheResults) {
  const test::TemporaryFolder folder;
  const ProcessResult result = trainer_in(
      folder.path(),
      "--lr 3e4 training.optimizer.name=sgd training.optimizer.momentum=0 "
      "training.optimizer.weight_decay=0 training.gradient_clip_norm=0 training.batch_size=8 "
      "training.schedule.name=constant training.on_nonfinite=rollback data.scaling=none "
      "data.synthetic.num_samples=60 data.synthetic.num_features=5 data.synthetic.num_classes=3 "
      "model.hidden_size=4 model.num_layers=3 --epochs 6");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(std::regex_search(
      result.err,
      std::regex("warning: step \\d+ \\(epoch \\d\\): the gradient is not finite .*; rolling back "
                 "to the end of epoch \\d, step \\d+, and halving the learning rate\n")))
      << result.err;
  EXPECT_TRUE(std::regex_search(
      result.out, std::regex("\nrollbacks   \\d+, each with half the learning rate\n")))
      << result.out;
}

TEST(TrainerTest, TheResultIsToldOnceOnTheTerminalAndInTheLog) {
  const test::TemporaryFolder folder;
  const ProcessResult result = trainer_in(folder.path(), "--epochs 1");
  EXPECT_EQ(result.exit_code, 0);
  const auto count = [](const std::string& text, const std::string& what) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  const std::string seen = result.err + result.out;
  EXPECT_EQ(count(seen, "  test  baseline\n"), 1) << seen;
  EXPECT_EQ(count(seen, "test split, "), 1) << seen;
  EXPECT_EQ(count(seen, "run folder  "), 1) << seen;
  EXPECT_NE(result.out.find("trained     1 epoch, 25 steps in "), std::string::npos) << result.out;
  const std::string log = test::read_file(folder.path() / "runs" / "latest" / "train.log");
  EXPECT_EQ(count(log, "  test  baseline\n"), 1) << log;
  EXPECT_EQ(count(log, "run folder  /"), 1) << log;
}

TEST(TrainerTest, ResultsCanBeHadAsJson) {
  const test::TemporaryFolder folder;
  const ProcessResult run = trainer_in(folder.path(), "-q --epochs 1 --json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  Json json = parse_json(run.out);
  const std::string root = json["run_folder"];
  json.erase("run_folder");
  EXPECT_EQ(json, parse_json(test::read_file(root + "/summary.json")));
  EXPECT_TRUE(json["test"]["baseline"].contains("accuracy"));
  const ProcessResult search = trainer_in(folder.path(), "find-batch seed=1 --max-batch 4 --json");
  EXPECT_EQ(search.exit_code, 0) << search.err;
  const Json batches = parse_json(search.out);
  EXPECT_EQ(batches["largest"], 4);
  EXPECT_EQ(batches["too_large"], nullptr);
  EXPECT_EQ(batches["trials"].size(), 3U);
  EXPECT_EQ(batches["trials"][2]["batch_size"], 4);
}

TEST(TrainerTest, ManyColumnsAreDescribedInTheLogAndNotOnTheTerminal) {
  const test::TemporaryFolder folder;
  std::string header = "y";
  std::string odd = "u";
  std::string even = "v";
  for (int i = 0; i < 12; ++i) {
    header += ",k" + std::to_string(i);
    odd += ",p";
    even += ",q";
  }
  std::string table = header + "\n";
  for (int i = 0; i < 10; ++i) table += odd + "\n" + even + "\n";
  table += "u" + even.substr(1) + "\n";  // else the columns would tell the target
  folder.write("t.csv", table);
  const std::string run = "data.source=csv data.path=t.csv data.target=y --batch-size 4 --epochs 1";
  const ProcessResult result = trainer_in(folder.path(), run);
  EXPECT_NE(
      result.err.find("columns     12 categorical\n"
                      "            12 lines about individual columns: see train.log or use -v\n"),
      std::string::npos)
      << result.err;
  const std::string line = "            \"k11\": categorical (text), 2 categories\n";
  EXPECT_NE(test::read_file(folder.path() / "runs/latest/train.log").find(line), std::string::npos);
  EXPECT_NE(trainer_in(folder.path(), "-v " + run).err.find(line), std::string::npos);
}

TEST(TrainerTest, QuietShowsNothingButWarningsAndErrors) {
  const test::TemporaryFolder folder;
  const ProcessResult result = trainer_in(folder.path(), "-q --epochs 1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace trainer
