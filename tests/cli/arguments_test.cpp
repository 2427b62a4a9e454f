// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <gtest/gtest.h>

#include "trainer/core/error.h"

#include "support/error_of.h"

namespace trainer::cli {
namespace {

Arguments parse(std::vector<const char*> words) {
  words.insert(words.begin(), "trainer");
  return parse_arguments(static_cast<int>(words.size()), words.data());
}

std::string message_of(const std::vector<const char*>& words) {
  return test::message_of(ErrorKind::kUsage, [&] { parse(words); });
}

TEST(ArgumentsTest, TrainIsTheDefaultCommand) {
  const Arguments arguments = parse({"--config", "a.yaml", "--config=b.yaml"});
  EXPECT_EQ(arguments.command, Command::kTrain);
  EXPECT_EQ(arguments.config_files, (std::vector<std::filesystem::path>{"a.yaml", "b.yaml"}));
  EXPECT_EQ(parse({"train", "--config", "a.yaml"}).config_files.size(), 1U);
  EXPECT_EQ(parse({"--config", "a.yaml", "train"}).config_files.size(), 1U);
}

TEST(ArgumentsTest, FlagsAndAssignmentsAreOverrides) {
  const Arguments arguments =
      parse({"--lr", "2e-3", "model.hidden_sizes=[256,128]", "--set", "tag=a=b", "--device=cpu"});
  ASSERT_EQ(arguments.overrides.size(), 4U);
  EXPECT_EQ(arguments.overrides[0].key, "tag");
  EXPECT_EQ(arguments.overrides[0].value, "a=b");
  EXPECT_EQ(arguments.overrides[0].place, "--set");
  EXPECT_EQ(arguments.overrides[1].key, "model.hidden_sizes");
  EXPECT_EQ(arguments.overrides[1].value, "[256,128]");
  EXPECT_EQ(arguments.overrides[1].place, "command line");
  EXPECT_EQ(arguments.overrides[2].key, "device");
  EXPECT_EQ(arguments.overrides[3].key, "training.learning_rate");
  EXPECT_EQ(arguments.overrides[3].value, "2e-3");
  EXPECT_EQ(arguments.overrides[3].place, "--lr");
}

TEST(ArgumentsTest, AFlagTakesOneValueAndLeavesTheRest) {
  const Arguments arguments = parse({"--config", "a.yaml", "seed=1", "--set", "tag=x", "seed=2"});
  EXPECT_EQ(arguments.config_files.size(), 1U);
  EXPECT_EQ(arguments.overrides.size(), 3U);
}

TEST(ArgumentsTest, TheCardsFlagsExist) {
  const Arguments arguments =
      parse({"--config", "c.yaml", "--lr",         "1",    "--batch-size", "2", "--epochs", "3",
             "--device", "cpu",    "--precision",  "fp32", "--seed",       "4", "--tag",    "t",
             "--resume", "r",      "--output-dir", "o"});
  EXPECT_EQ(arguments.overrides.size(), 8U);
  EXPECT_EQ(arguments.resume, "r");
}

TEST(ArgumentsTest, ConfigCommandsAreUnderstood) {
  EXPECT_EQ(parse({"config", "print", "--config", "a.yaml"}).command, Command::kConfigPrint);
  EXPECT_EQ(parse({"--config", "a.yaml", "config", "check"}).command, Command::kConfigCheck);
  EXPECT_EQ(parse({"config", "reference"}).command, Command::kConfigReference);
  EXPECT_EQ(parse({"config", "schema"}).command, Command::kConfigSchema);
  EXPECT_EQ(parse({"--print-config"}).command, Command::kConfigPrint);
}

TEST(ArgumentsTest, VerifyTakesPaths) {
  const Arguments arguments = parse({"verify", "runs/latest", "a.pt"});
  EXPECT_EQ(arguments.command, Command::kVerify);
  EXPECT_EQ(arguments.paths, (std::vector<std::filesystem::path>{"runs/latest", "a.pt"}));
  EXPECT_EQ(message_of({"verify"}),
            "verify: expected a checkpoint file or a run folder, got nothing");
  EXPECT_EQ(message_of({"verify", "--deep"}), "--deep: unknown flag; did you mean \"--help\"?");
}

TEST(ArgumentsTest, ExportTakesItsFormatFromTheFileOrAsItIsTold) {
  const Arguments arguments =
      parse({"export", "runs/latest", "--output", "m.onnx", "--softmax", "--preprocessing"});
  EXPECT_EQ(arguments.command, Command::kExport);
  EXPECT_EQ(arguments.paths.front(), "runs/latest");
  EXPECT_EQ(arguments.exported.output, "m.onnx");
  EXPECT_EQ(arguments.exported.format, ExportFormat::kOnnx);
  EXPECT_EQ(arguments.exported.options.outputs, apply::ExportOutputs::kProbabilities);
  EXPECT_EQ(arguments.exported.options.inputs, apply::ExportInputs::kColumns);
  const auto format_of = [](std::vector<const char*> words) {
    words.insert(words.begin(), {"export", "a.pt", "-o"});
    return parse(words).exported.format;
  };
  EXPECT_EQ(format_of({"m.PT"}), ExportFormat::kTorchscript);
  EXPECT_EQ(format_of({"m.safetensors"}), ExportFormat::kSafetensors);
  EXPECT_EQ(format_of({"m.onnx", "--format", "torchscript"}), ExportFormat::kTorchscript);
  EXPECT_EQ(format_of({"m", "--format=onnx"}), ExportFormat::kOnnx);
}

TEST(ArgumentsTest, ExportRefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(message_of({"export"}),
            "export: expected a run folder or a checkpoint file, got nothing\n"
            "export: expected --output FILE (.onnx, .safetensors or .pt), got nothing");
  EXPECT_EQ(message_of({"export", "a", "-o", "m.bin", "seed=1"}),
            "--output: expected a name that ends in .onnx, .safetensors or .pt, got \"m.bin\"; or "
            "say which format with --format\n"
            "command line: seed: export goes by the run's own configuration; leave it out");
  EXPECT_EQ(message_of({"export", "a", "-o", "m.pt", "--format", "tflite"}),
            "--format: expected onnx, safetensors or torchscript, got \"tflite\"");
  EXPECT_EQ(message_of({"export", "a", "-o", "m.safetensors", "--softmax", "--preprocessing"}),
            "--softmax: a safetensors file holds weights only; take --format onnx or torchscript\n"
            "--preprocessing: only ONNX files take the columns of a table; take --format onnx");
  EXPECT_EQ(message_of({"export", "a", "-o", "m.pt", "--resume", "auto"}),
            "--resume: export goes on with no run");
}

TEST(ArgumentsTest, PredictCarriesColumnsAlongAndSkipsRows) {
  const Arguments arguments = parse({"predict", "m.pt", "--data", "a.csv", "--keep", "id", "--keep",
                                     "x*", "--on-error", "skip", "-o", "out.csv", "threads=2"});
  EXPECT_EQ(arguments.kept, (std::vector<std::string>{"id", "x*"}));
  EXPECT_TRUE(arguments.skips_errors);
  EXPECT_EQ(arguments.errors, "out.csv.errors.csv");
  EXPECT_EQ(arguments.overrides.size(), 1U);
  EXPECT_EQ(parse({"predict", "m.pt", "--data", "-", "--on-error", "skip"}).errors, "");
  EXPECT_EQ(parse({"predict", "m.pt", "--data", "-", "--on-error=skip", "--errors", "e"}).errors,
            "e");
  EXPECT_FALSE(parse({"predict", "m.pt", "--data", "-", "--on-error", "stop"}).skips_errors);
  EXPECT_EQ(message_of({"predict", "m.pt", "--data", "-", "--on-error", "ignore"}),
            "--on-error: expected stop or skip, got \"ignore\"");
  EXPECT_EQ(message_of({"predict", "m.pt", "--data", "-", "--errors", "e"}),
            "--errors: has no effect without --on-error skip");
}

TEST(ArgumentsTest, EvalTakesTargetsUnderTwoNames) {
  EXPECT_EQ(parse({"eval", "m.pt", "--data", "x", "--labels", "y"}).targets, "y");
  EXPECT_EQ(parse({"eval", "m.pt", "--data", "x", "--targets", "y"}).targets, "y");
  EXPECT_EQ(message_of({"eval", "m.pt", "--targets", "y"}),
            "--targets: expected --data FILE beside it, got nothing");
}

TEST(ArgumentsTest, CvTakesRepeats) {
  EXPECT_EQ(parse({"cv", "--repeats", "3", "seed=1"}).num_repeats, 3);
  EXPECT_EQ(parse({"cv", "seed=1"}).num_repeats, 0);
  EXPECT_EQ(message_of({"cv", "--repeats", "0"}), "--repeats: expected an integer >= 1, got \"0\"");
}

TEST(ArgumentsTest, JsonIsForCommandsThatHaveResults) {
  EXPECT_TRUE(parse({"--json", "seed=1"}).json);
  EXPECT_TRUE(parse({"train", "--json", "seed=1"}).json);
  for (const char* command : {"verify", "find-batch", "cv"}) {
    EXPECT_TRUE(parse({command, "--json", "a=b"}).json) << command;
  }
  EXPECT_TRUE(parse({"--json", "eval", "m.pt"}).json);
  EXPECT_EQ(message_of({"predict", "m.pt", "--data", "-", "--json"}),
            "--json: this command has no results as JSON; leave it out");
  EXPECT_EQ(message_of({"--json", "--print-config"}),
            "--json: this command has no results as JSON; leave it out");
}

TEST(ArgumentsTest, SelftestTakesItsOptionsAndThoseOfARun) {
  const Arguments arguments =
      parse({"selftest", "resume", "--kills", "20", "--seed", "7", "model.dropout=0"});
  EXPECT_EQ(arguments.command, Command::kSelftestResume);
  EXPECT_EQ(arguments.num_kills, 20);
  EXPECT_EQ(arguments.overrides.size(), 2U);
  EXPECT_EQ(parse({"selftest", "resume"}).num_kills, 5);
  EXPECT_EQ(message_of({"selftest", "resume", "--kills", "0"}),
            "--kills: expected an integer >= 1, got \"0\"");
  EXPECT_EQ(message_of({"selftest", "resume", "--resume", "runs"}),
            "--resume: selftest resume makes its own runs");
}

TEST(ArgumentsTest, VerbosityIsUnderstood) {
  EXPECT_EQ(parse({"-q"}).verbosity, Verbosity::kQuiet);
  EXPECT_EQ(parse({"-v"}).verbosity, Verbosity::kVerbose);
  EXPECT_EQ(parse({}).verbosity, Verbosity::kNormal);
}

TEST(ArgumentsTest, HelpNamesCommandsFlagsAndExitCodes) {
  const std::string text = parse({"--help"}).text;
  for (const char* part : {"--config", "--resume", "--lr", "training.learning_rate", "train",
                           "config", "Exit codes: 0 done", "143 terminated"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  const std::string train = parse({"train", "--help"}).text;
  EXPECT_NE(train.find("trainer train [OPTIONS]"), std::string::npos) << train;
  EXPECT_EQ(train.find("find-batch"), std::string::npos) << train;
  EXPECT_NE(parse({"config", "--help"}).text.find("reference"), std::string::npos);
}

TEST(ArgumentsTest, VersionNamesLibtorchBlasAndCommit) {
  const std::string text = parse({"--version"}).text;
  EXPECT_EQ(text.rfind("trainer 0.1.0 (", 0), 0U) << text;
  EXPECT_NE(text.find("\nLibTorch "), std::string::npos);
  EXPECT_NE(text.find("\nBLAS "), std::string::npos);
}

TEST(ArgumentsTest, AnUnknownFlagHasASuggestion) {
  EXPECT_EQ(message_of({"--max-epochs", "5"}), "--max-epochs: unknown flag; use --epochs VALUE");
  EXPECT_EQ(message_of({"--gradient_clip_val", "5"}),
            "--gradient_clip_val: unknown flag; use training.gradient_clip_norm=VALUE");
  EXPECT_EQ(message_of({"--confg=a.yaml"}), "--confg: unknown flag; did you mean \"--config\"?");
  EXPECT_EQ(message_of({"--zzzzzzzzz"}), "--zzzzzzzzz: unknown flag");
}

TEST(ArgumentsTest, AnUnknownFlagOfACommandHasASuggestion) {
  EXPECT_EQ(message_of({"selftest", "resume", "--kils", "3"}),
            "--kils: unknown flag; did you mean \"--kills\"?");
  EXPECT_EQ(message_of({"--kils", "3"}), "--kils: unknown flag");
}

TEST(ArgumentsTest, AWordThatIsNoCommandIsAnError) {
  EXPECT_EQ(message_of({"trian"}),
            "command line: expected a command or key=value, got \"trian\"; did you mean "
            "\"train\"?");
  EXPECT_EQ(message_of({"--set", "novalue"}), "--set: expected key=value, got \"novalue\"");
}

TEST(ArgumentsTest, AFlagWithoutItsValueIsAnError) {
  EXPECT_EQ(message_of({"--lr"}), "--lr: 1 required VALUE missing; see trainer --help");
}

}  // namespace
}  // namespace trainer::cli
