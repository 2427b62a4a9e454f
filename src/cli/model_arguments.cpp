// SPDX-License-Identifier: Apache-2.0
#include "cli/model_arguments.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "trainer/core/text.h"

namespace trainer::cli {
namespace {

// The name of a command that applies a model.
std::string name_of(Command command) {
  switch (command) {
    case Command::kPredict:
      return "predict";
    case Command::kEval:
      return "eval";
    case Command::kInspect:
      return "inspect";
    case Command::kExport:
      return "export";
    default:
      return "";
  }
}

void understand_predict(const ModelWords& words, Arguments& arguments,
                        std::vector<std::string>& problems) {
  if (arguments.data.empty()) problems.emplace_back("predict: expected --data FILE, got nothing");
  if (arguments.output.empty()) arguments.output = "-";
  arguments.skips_errors = words.on_error == "skip";
  if (!words.on_error.empty() && !arguments.skips_errors && words.on_error != "stop") {
    problems.push_back(
        fmt::format("--on-error: expected stop or skip, got {}", in_quotes(words.on_error)));
  }
  if (!arguments.errors.empty() && !arguments.skips_errors) {
    problems.emplace_back("--errors: has no effect without --on-error skip");
  }
  // Not beside a pipe or a device.
  std::error_code ignored;
  const bool is_file = !std::filesystem::exists(arguments.output, ignored) ||
                       std::filesystem::is_regular_file(arguments.output, ignored);
  if (arguments.errors.empty() && arguments.skips_errors && arguments.output != "-" && is_file) {
    arguments.errors = arguments.output + ".errors.csv";
  }
}

}  // namespace

void understand_model(const ModelWords& words, const std::string& resume, Arguments& arguments,
                      std::vector<std::string>& problems) {
  const std::string name = name_of(arguments.command);
  if (name.empty()) return;
  const bool predicts = arguments.command == Command::kPredict;
  const bool evaluates = arguments.command == Command::kEval;
  if (words.model.empty()) {
    problems.push_back(
        fmt::format("{}: expected a run folder or a checkpoint file, got nothing", name));
  }
  if (predicts) understand_predict(words, arguments, problems);
  if (arguments.command == Command::kExport) {
    arguments.exported = understand_export(words.exported, problems);
  }
  if (evaluates && arguments.data.empty() && !arguments.targets.empty()) {
    problems.emplace_back("--targets: expected --data FILE beside it, got nothing");
  }
  if (!resume.empty()) problems.push_back(fmt::format("--resume: {} goes on with no run", name));
  for (const config::Override& given : arguments.overrides) {
    if ((predicts || evaluates) && given.key == "threads") continue;
    problems.push_back(fmt::format("{}: {}: {} goes by the run's own configuration; leave it out",
                                   given.place, given.key, name));
  }
  arguments.paths = {words.model};
}

}  // namespace trainer::cli
