// SPDX-License-Identifier: Apache-2.0
// Completion in real shells: bash and zsh in a pseudo-terminal, fish by its own `complete -C`.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/error_of.h"
#include "support/program_test.h"
#include "support/python.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

bool has_program(const std::string& name) {
  return test::run_process("command -v " + name).exit_code == 0;
}

#define SKIP_WITHOUT(shell)                                                               \
  if (!has_program(shell)) {                                                              \
    GTEST_SKIP() << "needs " shell " (scripts/setup.sh test with TRAINER_REQUIRE_ALL=1)"; \
  }

class CompletionTest : public test::ProgramTest {
 protected:
  CompletionTest() {
    folder_.write("my data/t 1.csv", "my col,b:c,\"x, y\",plain,$p\n1,2,3,4,5\n");
    folder_.write("c.yaml", "data: {source: csv, path: my data/t 1.csv}\n");
    folder_.write("runs/20260101_a/config_resolved.yaml", "");
    folder_.write("runs/20260102_b/config_resolved.yaml", "");
    folder_.write("runs/no_run/x", "");
    fs::create_directory_symlink("20260102_b", path("runs/latest"));
  }

  static std::string in_folder() {
    return "PATH=" + fs::path(test::kTrainer).parent_path().string() + ":$PATH ";
  }

  /// What a shell that begins with `setup` makes of each line, and what it shows.
  Json type(const std::string& shell, const std::string& setup, const Lines& lines) const {
    std::string command =
        fmt::format("cd {} && {} timeout 300 {} {} '{}'", folder_.path().string(), in_folder(),
                    test::python_script("end_to_end/type_in_shell.py"), shell, setup);
    for (const std::string& line : lines)
      command += " '" + test::replaced(line, "'", "'\\''") + "'";
    const test::ProcessResult result = test::run_process(command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json_or_null(result.out);
  }

  /// Pairs of what is typed, with a tab at its end, and what it becomes.
  void expect_lines(const std::string& shell, const std::string& setup,
                    const std::vector<std::pair<std::string, std::string>>& pairs) const {
    Lines lines;
    for (const auto& [typed, expected] : pairs) lines.push_back(typed + "\t");
    const Json results = type(shell, setup, lines);
    ASSERT_EQ(results.size(), pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_EQ(results[i]["line"], pairs[i].second) << pairs[i].first;
    }
  }
};

/// What every shell makes of a line; quotes differ.
const std::vector<std::pair<std::string, std::string>> kCommon = {
    {"trainer insp", "trainer inspect "},
    {"trainer runs com", "trainer runs compare "},
    {"trainer --preci", "trainer --precision "},
    {"trainer --precision=bf", "trainer --precision=bf16 "},
    {"trainer -c c", "trainer -c c.yaml "},
    {"trainer model.activation=ge", "trainer model.activation=gelu "},
    {"trainer device_fallback=f", "trainer device_fallback=false "},
    {"trainer training.opt", "trainer training.optimizer."},
    {"trainer training.optimizer.na", "trainer training.optimizer.name="},
    {"trainer -c c.yaml data.target=pl", "trainer -c c.yaml data.target=plain "},
    {"trainer -c c.yaml data.target=m", "trainer -c c.yaml data.target=my\\ col "},
    {"trainer -c c.yaml data.target=my\\ ", "trainer -c c.yaml data.target=my\\ col "},
    {"trainer init --data my\\ data/t\\ 1.csv --target my",
     "trainer init --data my\\ data/t\\ 1.csv --target my\\ col "},
    {"trainer data.path=my", "trainer data.path=my\\ data/"},
    {"trainer data.path=my\\ data/", "trainer data.path=my\\ data/t\\ 1.csv "},
    {"trainer runs show l", "trainer runs show latest "},
    {"trainer eval runs/l", "trainer eval runs/latest "},
    {"trainer --resume a", "trainer --resume auto "},
    {"trainer --lr ", "trainer --lr "},
    {"trainer no-command ", "trainer no-command "},
};

TEST_F(CompletionTest, BashCompletesLines) {
  SKIP_WITHOUT("bash");
  const std::string setup = "eval \"$(trainer completion bash)\"";
  expect_lines("bash", setup, kCommon);
  expect_lines(
      "bash", setup,
      {{"trainer -c c.yaml data.target='m", "trainer -c c.yaml data.target='my col'"},
       {"trainer -c c.yaml data.target=\"m", "trainer -c c.yaml data.target=\"my col\""},
       {"trainer -c c.yaml data.target=b", "trainer -c c.yaml data.target=b:c "},
       {"trainer -c c.yaml data.target=b:", "trainer -c c.yaml data.target=b:c "},
       {"trainer -c c.yaml data.ignore=[plain,b", "trainer -c c.yaml data.ignore=\\[plain,b:c"},
       {"trainer -c c.yaml data.target=\\\"", "trainer -c c.yaml data.target=\\\"x,\\ y\\\" "},
       {"trainer -c c.yaml data.target=$", "trainer -c c.yaml data.target=\\$p "},
       {test::kTrainer + " insp", test::kTrainer + " inspect "}});
}

TEST_F(CompletionTest, BashShowsWhatIsPossible) {
  SKIP_WITHOUT("bash");
  const Json results = type("bash", "eval \"$(trainer completion bash)\"",
                            {"trainer runs \t", "trainer eval runs/\t"});
  const std::string screen = results[0]["screen"];
  for (const char* command : {"compare", "list", "note", "remove", "show", "watch"}) {
    EXPECT_NE(screen.find(command), std::string::npos) << screen;
  }
  EXPECT_EQ(std::string(results[1]["screen"]).find("no_run"), std::string::npos);
}

TEST_F(CompletionTest, ZshCompletesLines) {
  SKIP_WITHOUT("zsh");
  folder_.write("_trainer", trainer("completion zsh").out);
  const std::string as_file = "fpath=($PWD $fpath); compinit -u -D";
  expect_lines("zsh", as_file, kCommon);
  expect_lines(
      "zsh", "compinit -u -D; source <(trainer completion zsh)",
      {{"trainer -c c.yaml data.target=\"m", "trainer -c c.yaml data.target=my\\ col "},
       {"trainer -c c.yaml data.target=b", "trainer -c c.yaml data.target=b:c "},
       {"trainer -c c.yaml 'data.ignore=[plain,b", "trainer -c c.yaml 'data.ignore=[plain,b:c"},
       {"trainer -c c.yaml data.target=\\$", "trainer -c c.yaml data.target=\\$p "},
       {test::kTrainer + " insp", test::kTrainer + " inspect "}});
  const std::string screen = type("zsh", as_file, {"trainer runs \t"})[0]["screen"];
  EXPECT_NE(screen.find("list     -- List the runs of a folder"), std::string::npos) << screen;
}

TEST_F(CompletionTest, FishCompletesLines) {
  SKIP_WITHOUT("fish");
  folder_.write("trainer.fish", trainer("completion fish").out);
  const auto complete = [&](const std::string& line) {
    const test::ProcessResult result = test::run_process(
        fmt::format("cd {} && {} HOME={} timeout 300 fish --no-config -c 'source trainer.fish; "
                    "complete -C $argv[1]' -- '{}'",
                    folder_.path().string(), in_folder(), folder_.path().string(),
                    test::replaced(line, "'", "'\\''")));
    EXPECT_EQ(result.err, "");
    return result.out;
  };
  EXPECT_EQ(complete("trainer insp"), "inspect\tDescribe a model and how it was trained\n");
  EXPECT_EQ(complete("trainer config sched"),
            "schedule\tPreview the steps and learning rates of a run\n");
  EXPECT_EQ(complete("trainer --allow"),
            "--allow-changes\tResume even if configuration or data have changed\n");
  EXPECT_EQ(complete("trainer model.activation=ge"), "model.activation=gelu\n");
  EXPECT_EQ(complete("trainer -c c.yaml data.target=m"), "data.target=my col\n");
  EXPECT_EQ(complete("trainer -c c.yaml data.target='my "), "data.target=my col\n");
  EXPECT_EQ(complete("trainer -c c.yaml data.target=\"my "), "data.target=my col\n");
  EXPECT_EQ(complete("trainer -c c.yaml data.target=my\\ "), "data.target=my col\n");
  EXPECT_EQ(complete("trainer data.path=my\\ data/"), "data.path=my data/t 1.csv\n");
  EXPECT_EQ(complete("trainer -c ~/c"), "~/c.yaml\n");
  EXPECT_EQ(complete("trainer runs show "), "20260101_a\n20260102_b\nlatest\t20260102_b\n");
  EXPECT_EQ(complete("trainer --lr "), "");
}

TEST_F(CompletionTest, AnErrorDisturbsNobody) {
  for (const char* arguments :
       {"", "bash", "bash a", "tcsh a b", "zsh",
        "zsh -c none.yaml data.target=", "fish data.path=none.csv data.target=",
        "fish -c runs data.target= ", "bash 'trainer data.path=/dev/stdin data.target=' ''"}) {
    const test::ProcessResult result = trainer(std::string("__complete ") + arguments);
    EXPECT_EQ(result.exit_code, 0) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_EQ(result.err, "") << arguments;
  }
}

TEST_F(CompletionTest, AnUnknownShellIsRefused) {
  const test::ProcessResult result = trainer("completion tcsh");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "error: completion: expected bash, zsh or fish, got \"tcsh\"\n");
}

}  // namespace
}  // namespace trainer
