// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/utf8.h"
#include "trainer/launch/place.h"

#include "cli/answer_shell.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/progress_bar.h"

namespace trainer::cli {
namespace {

std::vector<TableCommand> make_commands(std::span<const CommandRow> table) {
  std::vector<TableCommand> commands;
  for (const CommandRow& row : table) {
    TableCommand& made = commands.emplace_back(TableCommand{&row, nullptr, {}});
    if (row.make == nullptr) continue;
    made.command = row.make();
    made.options = made.command->options();
  }
  return commands;
}

std::string footer_of(const TableCommand& one) {
  std::string text = examples_of(one.row->name);
  if (one.command->takes_configuration()) text += kConfigurationHelp;
  return text + one.command->footer();
}

ProgramSpec make_spec(std::span<const CommandRow> table, CommonFlags& flags,
                      const std::vector<TableCommand>& commands) {
  ProgramSpec spec;
  spec.name = "trainer";
  spec.description = "Trains multilayer perceptrons on tables and images, reproducibly.";
  spec.options = flags.options();
  spec.default_options = commands.front().options;
  spec.default_footer =
      examples_of(commands.front().row->name) + commands.front().command->footer();
  spec.config_options = flags.config_options();
  for (const TableCommand& one : commands) {
    const bool is_default = &one == &commands.front();
    const bool is_group = one.command == nullptr;
    spec.commands.push_back({one.row->name, one.row->help,
                             is_default ? std::vector<Option>() : one.options, is_group,
                             is_group ? "" : footer_of(one)});
  }
  spec.help = program_help(spec, table);
  return spec;
}

}  // namespace

Program::Program(std::span<const CommandRow> table)
    : commands(make_commands(table)), spec(make_spec(table, flags, commands)) {}

TableCommand* Program::find(std::string_view name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const TableCommand& one) { return one.row->name == name; });
  return found == commands.end() ? nullptr : &*found;
}

namespace {

// Arguments must be UTF-8, because they are written to configurations and JSON files.
void require_text(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (is_utf8(argv[i])) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("command line: expected UTF-8 text, got {}; rename the file or folder",
                            in_quotes(argv[i])));
  }
}

// Runs the shell command of --on-end. Whether it succeeds does not change the exit code.
void run_at_end(const CommandLine& line, int exit_code, const std::string& error) {
  const std::string& command = line.common.on_end;
  if (command.empty() || launch::find_place(launch::process_environment).rank > 0) return;
  setenv("TRAINER_EXIT_CODE", std::to_string(exit_code).c_str(), 1);
  setenv("TRAINER_ERROR", error.c_str(), 1);
  setenv("TRAINER_RUN", line.command->run_folder().c_str(), 1);
  std::fflush(nullptr);
  const int status = std::system(command.c_str());
  if (status != 0) log::warning(fmt::format("--on-end: {} failed", in_quotes(command)));
}

int run_command(const CommandLine& line) {
  show_long_work();
  int exit_code = 0;
  try {
    exit_code = line.command->run(line.common);
  } catch (const std::exception& e) {
    const Error error = as_error(e);
    run_at_end(line, trainer::exit_code(error.kind()), error.what());
    throw;
  }
  run_at_end(line, exit_code, "");
  return exit_code;
}

}  // namespace

int dispatch(int argc, const char* const* argv) {
  if (argc > 1 && std::string_view(argv[1]) == kCompleteCommand) {
    const std::vector<std::string> arguments(argv + 2, argv + argc);
    fmt::print("{}", answer_shell(command_table(), arguments));
    return 0;
  }
  require_text(argc, argv);
  const CommandLine line = parse_command_line(command_table(), argc, argv);
  if (line.command != nullptr) return run_command(line);
  fmt::print("{}", line.text);
  return 0;
}

}  // namespace trainer::cli
