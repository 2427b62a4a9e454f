// SPDX-License-Identifier: Apache-2.0
#include "cli/help_text.h"

#include <cstddef>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/document.h"
#include "trainer/base/text/text_table.h"
#include "trainer/base/version.h"
#include "trainer/config/reference.h"
#include "trainer/run/folder/libraries.h"
#include "trainer/run/folder/system_info.h"

#include "cli/commands.h"
#include "cli/option.h"
#include "cli/parser.h"
#include "cli/print_document.h"
#include "cli/suggestions.h"

namespace trainer::cli {
namespace {

constexpr ExitCode kExitCodes[] = {
    {0, "success", "Success"},
    {1, "failure", "A failure without a more specific code"},
    {2, "usage or configuration", "The command line or the configuration is wrong"},
    {3, "data", "A data file is missing, or its content is wrong"},
    {4, "device", "The device or backend is missing or broken"},
    {5, "out of memory", "Memory ran out, after all retries"},
    {6, "non-finite loss or gradient", "A loss or gradient is not finite"},
    {7, "checkpoint", "A checkpoint is unreadable, or of another run"},
    {8, "file system", "The file system is full, not writable, or in use by another process"},
    {9, "another process of the run lost", "Another process of the run ended or does not answer"},
    {10, "requirement not met",
     "What `eval --require` or `predict --check` asks for does not hold"},
    {129, "SIGHUP", "Stopped by SIGHUP, with the state saved"},
    {130, "SIGINT", "Stopped by SIGINT (Ctrl-C), with the state saved"},
    {143, "SIGTERM", "Stopped by SIGTERM, with the state saved"}};

// Those at the beginning are shown by `trainer --help` too.
constexpr Example kExamples[] = {
    {"trainer fit houses.csv --target price",
     "Make a model and a report from a table, in the time that there is"},
    {"trainer init houses.csv --target price",
     "Write houses.yaml, a first configuration for a table"},
    {"trainer --config houses.yaml --lr 2e-3 model.hidden_sizes=256,128",
     "Train with it, and with other values of some keys"},
    {"trainer --resume runs/latest", "Resume the newest run"},
    {"trainer predict new.csv --output predictions.csv",
     "Predict the rows of another table with the newest run"},
    {"trainer --config configs/train.yaml --resume auto",
     "Resume the newest run of a configuration, or start a new one"},
    {"trainer --config configs/train.yaml --print-config",
     "Show every value and where it comes from"},
    {"trainer fit houses.csv --target price --time 10m",
     "Search for a better model for ten minutes"},
    {"trainer cv --config houses.yaml --folds 5", "Cross-validate"},
    {"trainer ensemble --config houses.yaml --members 5",
     "Train several models and make one of them"},
    {"trainer search --config houses.yaml --time 10m",
     "Try configurations for ten minutes and make one model of the best"},
    {"trainer predict new.csv --check -o new_predicted.csv",
     "Fail, with exit code 10, if the table is not like the training data"},
    {"trainer predict new.csv --interval 0.9 -o intervals.csv",
     "Add intervals that contain the target of nine rows in ten"},
    {"trainer predict runs/latest new.csv --keep id -o new.parquet",
     "Predict with a certain run, and copy a column of the table"},
    {"trainer eval labeled.csv", "Evaluate the newest model on another table"},
    {"trainer eval labeled.csv --require accuracy>0.9",
     "Fail, with exit code 10, unless the model is good enough"},
    {"trainer explain runs/latest", "Measure which columns count"},
    {"trainer inspect runs/latest", "Describe a model and how it was trained"},
    {"trainer report runs/latest", "Write an HTML report about a run"},
    {"trainer export runs/latest --output model.onnx", "Export the model to ONNX"},
    {"trainer runs list --sort val.loss", "List the runs, the best first"},
    {"trainer runs show latest", "Show a run: what happened, settings, metrics"},
    {"trainer runs compare 20260102_030405 latest", "Compare two runs"},
    {"trainer runs watch latest", "Watch a run that another process trains"},
    {"trainer runs note latest best-so-far", "Note something about a run"},
    {"trainer runs remove --keep-best 5", "Move all runs but the best five to the trash"},
    {"trainer runs restore 20260102_030405", "Bring a removed run back"},
    {"trainer runs purge", "Delete the removed runs for good"},
    {"trainer verify runs/latest", "Verify the checkpoints of a run"},
    {"trainer config print --config houses.yaml --lr 2e-3", "Show the resolved configuration"},
    {"trainer config check --config houses.yaml", "Find mistakes without reading the data"},
    {"trainer config reference training.schedule", "Describe the keys of a section"},
    {"trainer config schema >config.schema.json", "Write the JSON Schema for an editor"},
    {"trainer config schedule --config configs/train.yaml",
     "Preview the steps and learning rates of a run"},
    {"trainer find-batch --config configs/train.yaml",
     "Find the largest batch that fits and the fastest"},
    {"trainer profile --config configs/train.yaml", "Measure where the time of training goes"},
    {"trainer doctor", "Check this machine"},
    {"trainer selftest resume", "Check that resumed runs end with the same bits"},
    {"trainer completion bash >trainer.bash", "Write the script that completes words"},
    {"trainer manual | man -l -", "Read the manual page"}};

constexpr std::size_t kMainExamples = 5;
constexpr std::ptrdiff_t kMainConfigOptions = 2;  // --config and --resume

bool is_of_command(std::string_view example, std::string_view command) {
  constexpr std::string_view kProgram = "trainer ";
  example.remove_prefix(kProgram.size());
  if (command == "train") return example.starts_with("--");
  return example == command || (example.starts_with(command) && example[command.size()] == ' ');
}

// Returns an option as CLI11 shows it in the --help of commands.
std::string option_lines(const Option& option) {
  constexpr std::size_t kHelpWidth = 49;
  std::string text;
  std::string before = fmt::format("{} {}", option.names, option.value_name);
  for (const std::string& line : wrapped(option.help, kHelpWidth)) {
    text += fmt::format("  {:<28}{}\n", before, line);
    before.clear();
  }
  return text;
}

std::string exit_codes_text() {
  constexpr std::size_t kWidth = 78;
  std::string text = "Exit codes:";
  std::size_t width = text.size();
  for (const ExitCode& code : kExitCodes) {
    const bool is_last = &code == std::end(kExitCodes) - 1;
    const std::string item = fmt::format("{} {}{}", code.code, code.name, is_last ? '.' : ',');
    const bool fits = width + 1 + item.size() <= kWidth;
    text += (fits ? " " : "\n  ") + item;
    width = (fits ? width + 1 : 2) + item.size();
  }
  return text;
}

}  // namespace

std::span<const ExitCode> exit_codes() { return kExitCodes; }

std::span<const Example> examples() { return kExamples; }

std::string examples_of(std::string_view command) {
  std::string text;
  for (const Example& example : kExamples) {
    if (!is_of_command(example.command, command)) continue;
    text += (text.empty() ? "Examples:\n  " : "  ") + std::string(example.command) + "\n";
  }
  return text;
}

std::string program_help(const ProgramSpec& program, std::span<const CommandRow> table) {
  std::string text = program.description +
                     "\n\nUsage: trainer --config FILE [KEY=VALUE ...]\n"
                     "       trainer COMMAND [OPTIONS] ...\n";
  std::string_view task;
  for (const CommandRow& row : table) {
    if (std::string_view(row.name).find(' ') != std::string_view::npos) continue;
    if (row.task != task) text += fmt::format("\n{}:\n", row.task);
    task = row.task;
    text += fmt::format("  {:<12}{}\n", row.name, row.help);
  }
  text += "\nMain options:\n";
  bool unused = false;
  const std::vector<Option>& of_config = program.config_options;
  std::vector<Option> options(of_config.begin(), of_config.begin() + kMainConfigOptions);
  options.push_back({kHelpFlag, &unused, "", kHelpOfHelp});
  options.insert(options.end(), program.options.begin(), program.options.end());
  for (const Option& option : options) text += option_lines(option);
  text += "\nExamples:\n";
  for (const Example& example : std::span(kExamples).first(kMainExamples)) {
    text += fmt::format("  {}\n", example.command);
  }
  return text + "\nMore: trainer COMMAND --help, trainer help KEY, trainer manual | man -l -\n" +
         exit_codes_text() + "\n";
}

std::string help_on_keys(const std::string& origin, const std::vector<std::string>& names,
                         const std::vector<std::string>& commands) {
  Document document;
  for (const std::string& name : names) {
    const std::vector<const config::Field*> fields = config::fields_named(name);
    if (fields.empty()) throw Error(ErrorKind::kUsage, unknown_topic(origin, name, commands));
    if (&name != &names.front()) document.paragraph("");
    document.append(config::describe(fields));
  }
  return shown_text(document);
}

std::string version_text() {
  const BuildInfo& build = build_info();
  std::string text =
      fmt::format("trainer {} ({}{})\n", build.version, build.git_commit.substr(0, 12),
                  build.git_dirty ? ", modified" : "");
  for (const auto& [name, version] : run::library_versions()) {
    text += fmt::format("{} {}\n", name, version);
  }
  if (build.libtorch != "none") text += fmt::format("BLAS {}\n", run::blas_info().name);
  return text + fmt::format("built with {}, {}\n", build.compiler, build.build_type);
}

}  // namespace trainer::cli
