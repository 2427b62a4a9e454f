// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/version.h"

#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/parse_words.h"

namespace trainer::cli {
namespace {

CommonOptions common(const std::vector<const char*>& words) { return parse(words).common; }

TEST(CommandLineTest, TrainIsTheDefaultCommand) {
  const CommandLine line = parse({"--config", "a.yaml", "--config=b.yaml"});
  EXPECT_EQ(line.name, "train");
  EXPECT_EQ(line.common.config_files, (std::vector<std::filesystem::path>{"a.yaml", "b.yaml"}));
  EXPECT_EQ(line.common.command_line, "trainer --config a.yaml --config=b.yaml");
  EXPECT_EQ(common({"train", "--config", "a.yaml"}).config_files.size(), 1U);
  EXPECT_EQ(common({"--config", "a.yaml", "train"}).config_files.size(), 1U);
}

TEST(CommandLineTest, FlagsAndAssignmentsAreOverrides) {
  const std::vector<config::Override> overrides =
      common({"--lr", "2e-3", "model.hidden_sizes=[256,128]", "--set", "tag=a=b", "--device=cpu"})
          .overrides;
  ASSERT_EQ(overrides.size(), 4U);
  EXPECT_EQ(overrides[0].key, "tag");
  EXPECT_EQ(overrides[0].value, "a=b");
  EXPECT_EQ(overrides[0].origin, "--set");
  EXPECT_EQ(overrides[1].key, "model.hidden_sizes");
  EXPECT_EQ(overrides[1].value, "[256,128]");
  EXPECT_EQ(overrides[1].origin, "command line");
  EXPECT_EQ(overrides[2].key, "device");
  EXPECT_EQ(overrides[3].key, "training.learning_rate");
  EXPECT_EQ(overrides[3].value, "2e-3");
  EXPECT_EQ(overrides[3].origin, "--lr");
}

TEST(CommandLineTest, NothingIsAFlagBehindTwoDashes) {
  EXPECT_EQ(parse({"inspect", "--", "runs/a"}).name, "inspect");
  EXPECT_EQ(common({"--", "seed=1"}).overrides.size(), 1U);
  EXPECT_EQ(parse({"--"}).name, "train");
}

TEST(CommandLineTest, AFlagTakesOneValueAndLeavesTheRest) {
  const CommonOptions options =
      common({"--config", "a.yaml", "seed=1", "--set", "tag=x", "seed=2"});
  EXPECT_EQ(options.config_files.size(), 1U);
  EXPECT_EQ(options.overrides.size(), 3U);
}

TEST(CommandLineTest, TheCardsFlagsExist) {
  const CommonOptions options =
      common({"--config", "c.yaml", "--lr",         "1",    "--batch-size", "2", "--epochs", "3",
              "--device", "cpu",    "--precision",  "fp32", "--seed",       "4", "--tag",    "t",
              "--resume", "r",      "--output-dir", "o"});
  EXPECT_EQ(options.overrides.size(), 8U);
  EXPECT_EQ(options.resume, "r");
}

TEST(CommandLineTest, CommandsOfAGroupAreFound) {
  EXPECT_EQ(parse({"config", "print", "--config", "a.yaml"}).name, "config print");
  EXPECT_EQ(parse({"--config", "a.yaml", "config", "check"}).name, "config check");
  EXPECT_EQ(parse({"config", "reference"}).name, "config reference");
  EXPECT_EQ(parse({"config", "schema"}).name, "config schema");
  EXPECT_EQ(parse({"--print-config"}).name, "config print");
  EXPECT_EQ(message_of({"config"}),
            "config: expected print, check, reference, schema or schedule, got nothing");
  EXPECT_EQ(message_of({"selftest", "resum"}),
            "selftest: expected resume, got \"resum\"; did you mean \"resume\"?");
}

/// A command that has an option of each kind.
class FakeCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"path", &paths, "PATH", "Positional arguments"},
            {"-t,--text,--label", &text, "VALUE", "One value"},
            {"--maybe", &maybe, "VALUE", "One value, or none"},
            {"--each", &each, "VALUE", "Several values"},
            {"--json", &json, "", "As JSON"}};
  }
  int run(const CommonOptions& /*common*/) override { return 0; }

  std::vector<std::string> paths;
  std::string text;
  std::optional<std::string> maybe;
  std::vector<std::string> each;
  bool json = false;
};

/// A default command, whose options are the program's.
class FakeDefault : public Command {
 public:
  std::vector<Option> options() override { return {{"--json", &json, "", "As JSON"}}; }
  int run(const CommonOptions& /*common*/) override { return 0; }

  bool json = false;
};

template <class C>
std::unique_ptr<Command> make() {
  return std::make_unique<C>();
}

FakeCommand parse_fake(std::vector<const char*> words) {
  constexpr std::array<CommandRow, 2> kTable = {
      {{"first", "The default", make<FakeDefault>}, {"fake", "Another", make<FakeCommand>}}};
  words.insert(words.begin(), "trainer");
  const CommandLine line = parse_command_line(kTable, static_cast<int>(words.size()), words.data());
  return dynamic_cast<const FakeCommand&>(*line.command);
}

TEST(CommandLineTest, OptionsWriteToTheCommandThatWasNamed) {
  const FakeCommand command = parse_fake(
      {"fake", "a", "b", "--text", "c", "--each", "d", "--maybe", "", "e", "--each=f", "--json"});
  EXPECT_EQ(command.paths, (std::vector<std::string>{"a", "b", "e"}));
  EXPECT_EQ(command.text, "c");
  EXPECT_EQ(command.maybe, "");
  EXPECT_EQ(command.each, (std::vector<std::string>{"d", "f"}));
  EXPECT_TRUE(command.json);
}

TEST(CommandLineTest, WhatIsNotGivenStaysAsItWas) {
  const FakeCommand command = parse_fake({"fake", "--label", "c"});
  EXPECT_EQ(command.text, "c");
  EXPECT_EQ(command.maybe, std::nullopt);
  EXPECT_TRUE(command.paths.empty());
  EXPECT_FALSE(command.json);
  EXPECT_EQ(parse_fake({"fake", "-t", "d"}).text, "d");
}

TEST(CommandLineTest, JsonMayStandBeforeTheCommand) {
  EXPECT_TRUE(parse_fake({"--json", "fake"}).json);
  EXPECT_TRUE(parse_fake({"fake", "--json"}).json);
}

TEST(CommandLineTest, JsonIsForCommandsThatHaveResults) {
  for (const char* command : {"train", "verify", "find-batch", "cv"}) {
    EXPECT_EQ(parse({command, "--json", "a=b"}).name, command);
  }
  EXPECT_EQ(message_of({"predict", "m.pt", "--data", "-", "--json"}),
            "--json is not supported by predict; remove it");
  EXPECT_EQ(message_of({"--json", "--print-config"}),
            "--json is not supported by config print; remove it");
}

TEST(CommandLineTest, WhatOnlyTrainingTakesIsRefusedElsewhere) {
  EXPECT_EQ(message_of({"doctor", "--timing", "--trace", "x.json"}),
            "--timing is not supported by doctor; remove it\n"
            "--trace is not supported by doctor; remove it");
  EXPECT_EQ(message_of({"--timing", "runs", "list"}),
            "--timing is not supported by runs list; remove it");
  EXPECT_EQ(parse({"--trace", "x.json", "profile", "a=b"}).name, "profile");
  EXPECT_EQ(parse({"train", "--trace", "x.json", "--timing", "a=b"}).name, "train");
}

TEST(CommandLineTest, VerbosityIsUnderstood) {
  EXPECT_EQ(common({"-q"}).verbosity, Verbosity::kQuiet);
  EXPECT_EQ(common({"-v"}).verbosity, Verbosity::kVerbose);
  EXPECT_EQ(common({}).verbosity, Verbosity::kNormal);
}

TEST(CommandLineTest, HelpNamesCommandsFlagsAndExitCodes) {
  const std::string text = parse({"--help"}).text;
  for (const char* part : {"Make a model:\n  train ", "Use a model:\n  predict ", "--config",
                           "--resume", "--version", "Exit codes: 0 success", "143 SIGTERM"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(parse({"help"}).text, text);
  const std::string train = parse({"train", "--help"}).text;
  for (const char* part :
       {"trainer train [OPTIONS]", "--lr", "training.learning_rate", "Examples:\n  trainer --"}) {
    EXPECT_NE(train.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(train.find("find-batch"), std::string::npos) << train;
  EXPECT_EQ(train.find("SUBCOMMAND"), std::string::npos) << train;
  EXPECT_NE(parse({"config", "--help"}).text.find("reference"), std::string::npos);
}

CommandLine parse_line(const std::string& line) {
  std::istringstream stream(line);
  const std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  return parse(pointers);
}

std::string help_of(const std::string& command) { return parse_line(command + " --help").text; }

TEST(CommandLineTest, HelpFitsATerminalAndHasAnExample) {
  constexpr int64_t kMaxLines = 55;
  for (const CommandRow& row : command_table()) {
    const std::string help = help_of(row.name);
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), kMaxLines) << help;
    std::istringstream text(help + parse({"--help"}).text);
    for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 80U) << line;
    if (row.make == nullptr) continue;
    EXPECT_NE(help.find("Examples:\n  trainer "), std::string::npos) << help;
  }
}

TEST(CommandLineTest, HelpSaysWhichCommandsTakeAConfiguration) {
  EXPECT_NE(help_of("cv").find("--config FILE"), std::string::npos);
  EXPECT_EQ(help_of("predict").find("--config FILE"), std::string::npos);
}

TEST(CommandLineTest, TheExamplesAreUnderstood) {
  constexpr std::string_view kProgram = "trainer ";
  for (const Example& example : examples()) {
    const std::string line = example.command;
    std::string message;
    try {
      parse_line(line.substr(kProgram.size(), line.find_first_of(">|") - kProgram.size()));
    } catch (const Error& e) {
      message = e.what();  // there may be no run to be found
    }
    EXPECT_TRUE(message.empty() || message.find("the folder runs has no run") != std::string::npos)
        << line << ": " << message;
  }
}

TEST(CommandLineTest, VersionNamesCommitAndLibraries) {
  const std::string text = parse({"--version"}).text;
  EXPECT_EQ(text.rfind("trainer " + build_info().version + " (", 0), 0U) << text;
  EXPECT_NE(text.find("\nLibTorch "), std::string::npos);
  for (const char* name : {"yaml-cpp", "fmt", "spdlog", "CLI11", "nlohmann_json", "zlib", "BLAS"}) {
    EXPECT_NE(text.find(std::string("\n") + name + " "), std::string::npos) << text;
  }
}

TEST(CommandLineTest, AnUnknownFlagHasASuggestion) {
  EXPECT_EQ(message_of({"--max-epochs", "5"}), "--max-epochs: unknown flag; use --epochs VALUE");
  EXPECT_EQ(message_of({"--gradient_clip_val", "5"}),
            "--gradient_clip_val: unknown flag; use training.gradient_clip_norm=VALUE");
  EXPECT_EQ(message_of({"--confg=a.yaml"}), "--confg: unknown flag; did you mean \"--config\"?");
  EXPECT_EQ(message_of({"--zzzzzzzzz"}), "--zzzzzzzzz: unknown flag");
}

TEST(CommandLineTest, AnUnknownFlagOfACommandHasASuggestion) {
  EXPECT_EQ(message_of({"selftest", "resume", "--kils", "3"}),
            "--kils: unknown flag; did you mean \"--kills\"?");
  EXPECT_EQ(message_of({"--kils", "3"}), "--kils: unknown flag");
  EXPECT_EQ(message_of({"verify", "--deep"}), "--deep: unknown flag; did you mean \"--help\"?");
}

TEST(CommandLineTest, AWordThatIsNoCommandIsAnError) {
  EXPECT_EQ(message_of({"trian"}),
            "command line: expected a command or key=value, got \"trian\"; did you mean "
            "\"train\"?");
  EXPECT_EQ(message_of({"--set", "novalue"}), "--set: expected key=value, got \"novalue\"");
  const std::string expected = "command line: expected a command or key=value, got ";
  EXPECT_EQ(message_of({"predcit", "m.pt", "--zzz", "x.csv"}),
            expected + "\"predcit\"; did you mean \"predict\"?");
  EXPECT_EQ(message_of({"learn"}), expected + "\"learn\"; did you mean \"train\"?");
  EXPECT_EQ(message_of({"version"}), expected + "\"version\"; use --version");
  EXPECT_EQ(message_of({"check"}), expected + "\"check\"; did you mean \"config check\"?");
  EXPECT_EQ(message_of({"qqqqq"}), expected + "\"qqqqq\"; trainer --help lists the commands");
}

TEST(CommandLineTest, AFileThatStandsAloneIsToldItsFlag) {
  const std::string expected = "command line: expected a command or key=value, got ";
  EXPECT_EQ(message_of({"train", "a.yml"}),
            expected + "\"a.yml\"; a configuration is given as --config a.yml");
  EXPECT_EQ(message_of({"train", "t.csv"}),
            expected + "\"t.csv\"; a table is given as data.path=t.csv");
  EXPECT_EQ(message_of({"predict", "m.pt", "x.csv", "no.csv"}),
            expected + "\"no.csv\"; a file to write is given as --output no.csv");
  EXPECT_EQ(message_of({"train", "--data", "t.csv"}),
            "--data: unknown flag; use data.path=VALUE, or write a configuration for a table with "
            "trainer init");
}

TEST(CommandLineTest, HelpOnWhatIsNoCommandAndNoKeyIsAnError) {
  const std::string expected = "help: expected a command or a configuration key, got ";
  EXPECT_EQ(message_of({"help", "predcit"}), expected + "\"predcit\"; did you mean \"predict\"?");
  EXPECT_EQ(message_of({"help", "epohcs"}), expected + "\"epohcs\"; did you mean \"epochs\"?");
  EXPECT_EQ(message_of({"help", "nonsense"}),
            expected +
                "\"nonsense\"; trainer --help lists the commands, trainer config reference "
                "the keys");
  EXPECT_EQ(parse({"help", "predict"}).text, parse({"predict", "--help"}).text);
}

TEST(CommandLineTest, HelpOnAKeyDescribesIt) {
  const std::string text = parse({"help", "training.learning_rate"}).text;
  EXPECT_EQ(text,
            "key         training.learning_rate\n"
            "meaning     Peak learning rate of the schedule.\n"
            "accepts     a number > 0\n"
            "default     0.001\n"
            "            with recipe=realmlp: 0.04 for classification, 0.2 for regression\n"
            "            with recipe=tabm: 0.002\n"
            "            with recipe=linear: 0.003 for classification, 0.0003 for regression\n"
            "set by      training.learning_rate=VALUE, --lr VALUE\n"
            "on resume   is kept\n");
  for (const char* name : {"lr", "learning_rate"}) EXPECT_EQ(parse({"help", name}).text, text);
}

TEST(CommandLineTest, HelpOnASectionListsItsKeys) {
  const std::string text = parse({"help", "training.schedule"}).text;
  EXPECT_TRUE(text.starts_with("key  ")) << text;
  EXPECT_NE(text.find("\ntraining.schedule.name "), std::string::npos) << text;
  EXPECT_EQ(text.find("\ntraining.epochs "), std::string::npos) << text;
}

TEST(CommandLineTest, QuietAndVerboseAtOnceIsAnError) {
  EXPECT_EQ(message_of({"-q", "-v"}), "--quiet: conflicts with --verbose; remove one of them");
}

TEST(CommandLineTest, AFlagWithoutItsValueIsAnError) {
  EXPECT_EQ(message_of({"--lr"}), "--lr: 1 required VALUE missing; see trainer --help");
}

}  // namespace
}  // namespace trainer::cli
