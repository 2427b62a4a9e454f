// SPDX-License-Identifier: Apache-2.0
// What the commands refuse before they run.
#include "cli/commands.h"

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "cli/parse_words.h"
#include "support/temporary_folder.h"

namespace trainer::cli {
namespace {

/// In a folder without runs.
class CommandsTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::current_path(folder_.path()); }
  void TearDown() override { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  test::TemporaryFolder folder_;
};

TEST_F(CommandsTest, EachRowHasAOneLineHelp) {
  for (const CommandRow& row : command_table()) {
    const std::string help = row.help;
    EXPECT_FALSE(help.empty()) << row.name;
    EXPECT_EQ(help.find('\n'), std::string::npos) << row.name;
  }
}

TEST_F(CommandsTest, VerifyTakesPaths) {
  EXPECT_EQ(parse({"verify", "runs/latest", "a.pt"}).name, "verify");
  EXPECT_EQ(message_of({"verify"}),
            "verify: expected a checkpoint file or a run folder, got nothing");
}

TEST_F(CommandsTest, ExportRefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(message_of({"export"}),
            "export: expected a run folder or a checkpoint file, got nothing, and the folder runs "
            "has no run; name one\n"
            "export: expected --output FILE (.c, .html, .onnx, .safetensors or .pt), got nothing");
  EXPECT_EQ(
      message_of({"export", "a", "-o", "m.bin", "seed=1"}),
      "--output: expected a name ending in .c, .html, .onnx, .safetensors or .pt, got \"m.bin\"; "
      "or set "
      "--format\n"
      "command line: seed: export always uses the run's saved configuration; remove this override");
  EXPECT_EQ(message_of({"export", "a", "-o", "m.pt", "--format", "tflite"}),
            "--format: expected c, html, onnx, safetensors, torchscript or triton, got \"tflite\"");
  EXPECT_EQ(message_of({"export", "a", "-o", "m.pt", "--resume", "auto"}),
            "--resume is not supported by export");
}

TEST_F(CommandsTest, CommandsWithoutConfigurationRefuseOne) {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{"runs", "list"},
                                             {"runs", "watch", "a"},
                                             {"runs", "show", "a"},
                                             {"runs", "compare", "a", "b"},
                                             {"runs", "note", "a", "text"},
                                             {"runs", "remove", "a"},
                                             {"runs", "restore", "a"},
                                             {"runs", "purge", "a"},
                                             {"report", "a"},
                                             {"verify", "a"},
                                             {"doctor"},
                                             {"manual"},
                                             {"completion", "bash"},
                                             {"config", "reference"},
                                             {"config", "schema"}}) {
    std::string command = words.front();
    if (command == "runs" || command == "config") command += " " + std::string(words.at(1));
    std::vector<const char*> given = words;
    given.insert(given.end(), {"--config", "a.yaml", "--lr", "2"});
    const std::string takes_none = command + " takes no configuration; remove ";
    EXPECT_EQ(message_of(given), "--config: " + takes_none + "it\n--lr: training.learning_rate: " +
                                     takes_none + "this override");
  }
}

TEST_F(CommandsTest, CommandsOfATrainedModelTakeItsConfiguration) {
  for (const char* command : {"eval", "inspect", "explain"}) {
    EXPECT_EQ(message_of({command, "a", "-c", "b.yaml"}),
              std::string("--config: ") + command +
                  " always uses the run's saved configuration; remove this option");
  }
}

TEST_F(CommandsTest, ExportTakesItsFormatFromTheFileOrAsItIsTold) {
  const std::string only_weights =
      "--softmax: a safetensors file contains weights only; use --format onnx or torchscript";
  const std::string only_onnx = "--preprocessing: only supported for ONNX; use --format onnx";
  const auto problem = [](std::vector<const char*> words) {
    words.insert(words.begin(), {"export", "a.pt", "--softmax", "--preprocessing", "-o"});
    return message_of(words);
  };
  EXPECT_EQ(problem({"m.safetensors"}), only_weights + "\n" + only_onnx);
  EXPECT_EQ(problem({"m.PT"}), only_onnx);
  EXPECT_EQ(problem({"m.onnx", "--format", "torchscript"}), only_onnx);
  EXPECT_EQ(parse({"export", "a.pt", "--preprocessing", "-o", "m", "--format=onnx"}).name,
            "export");
  EXPECT_EQ(parse({"export", "a.pt", "--preprocessing", "-o", "m.onnx"}).name, "export");
}

TEST_F(CommandsTest, PredictTakesThreadsAndRefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(
      parse({"predict", "m.pt", "--data", "-", "--on-error=skip", "--errors", "e", "threads=2"})
          .name,
      "predict");
  EXPECT_EQ(message_of({"predict", "m.pt", "--data", "-", "--on-error", "ignore"}),
            "--on-error: expected stop or skip, got \"ignore\"");
  EXPECT_EQ(message_of({"predict", "m.pt", "--data", "-", "--errors", "e"}),
            "--errors: has no effect without --on-error skip");
  EXPECT_EQ(message_of({"predict", "--on-error", "stop"}),
            "predict: expected a run folder or a checkpoint file, got nothing, and the folder runs "
            "has no run; name one\n"
            "predict: expected --data FILE, got nothing");
}

TEST_F(CommandsTest, ATableNeedsNoFlag) {
  const char* no_run =
      "expected a run folder or a checkpoint file, got nothing, and the folder runs has no run; "
      "name "
      "one";
  EXPECT_EQ(message_of({"predict", "new.csv"}), fmt::format("predict: {}", no_run));
  EXPECT_EQ(message_of({"eval", "a/new.parquet"}), fmt::format("eval: {}", no_run));
  EXPECT_EQ(message_of({"predict", "m.pt", "a.csv", "--data", "b.csv"}),
            "expected one table, got \"a.csv\" and --data \"b.csv\"; remove one of them");
  EXPECT_EQ(parse({"predict", "m.pt", "a.csv"}).name, "predict");
  EXPECT_EQ(parse({"predict", "best.model", "--data", "a.csv"}).name, "predict");
  EXPECT_EQ(message_of({"init", "t.csv", "--target", "y", "seed=1"}),
            "command line: init takes no keys; set seed in the new file");
}

TEST_F(CommandsTest, AKeyIsNeverTakenForAnotherArgument) {
  std::filesystem::create_directories("runs/latest");
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"eval", "threads=2", "m.pt", "t.csv"},
        {"eval", "m.pt", "threads=2", "t.csv"},
        {"eval", "t.csv", "threads=2"}}) {
    const CommandLine line = parse(words);
    ASSERT_EQ(line.common.overrides.size(), 1U);
    EXPECT_EQ(line.common.overrides[0].key, "threads");
  }
}

TEST_F(CommandsTest, EvalTakesTargetsOfDataOnly) {
  EXPECT_EQ(parse({"eval", "m.pt", "--data", "x", "--labels", "y", "threads=2"}).name, "eval");
  EXPECT_EQ(message_of({"eval", "m.pt", "--targets", "y"}), "--targets requires --data FILE");
}

TEST_F(CommandsTest, InitTakesNeitherRunsNorKeys) {
  EXPECT_EQ(message_of({"init", "--target", "y", "--resume", "r", "-c", "a.yaml", "seed=1"}),
            "init: expected --data FILE.csv, got nothing\n"
            "init: expected --output FILE.yaml, or - for standard output, got nothing\n"
            "--resume is not supported by init\n"
            "--config is not supported by init; --output names the new configuration\n"
            "command line: init takes no keys; set seed in the new file");
}

TEST_F(CommandsTest, CountsArePositive) {
  EXPECT_EQ(parse({"cv", "--repeats", "3", "--folds", "2", "seed=1"}).name, "cv");
  EXPECT_EQ(message_of({"cv", "--repeats", "0", "--folds", "1"}),
            "--folds: expected an integer >= 2, got \"1\"\n"
            "--repeats: expected an integer >= 1, got \"0\"");
  EXPECT_EQ(message_of({"find-batch", "--max-batch", "many"}),
            "--max-batch: expected an integer >= 1, got \"many\"");
  EXPECT_EQ(message_of({"selftest", "resume", "--kills", "0"}),
            "--kills: expected an integer >= 1, got \"0\"");
}

TEST_F(CommandsTest, SelftestTakesItsOptionsAndThoseOfARun) {
  const CommandLine line =
      parse({"selftest", "resume", "--kills", "20", "--seed", "7", "model.dropout=0"});
  EXPECT_EQ(line.name, "selftest resume");
  EXPECT_EQ(line.common.overrides.size(), 2U);
  EXPECT_EQ(message_of({"selftest", "resume", "--resume", "runs"}),
            "--resume is not supported by selftest resume, which starts its own runs");
}

}  // namespace
}  // namespace trainer::cli
