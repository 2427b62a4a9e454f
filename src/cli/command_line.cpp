// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/core/error.h"

#include "cli/common_flags.h"
#include "cli/help_text.h"
#include "cli/parser.h"
#include "cli/suggestions.h"

namespace trainer::cli {
namespace {

constexpr const char* kPrintConfig = "config print";  // --print-config is short for it
constexpr const char* kNoJson = "--json is not supported by this command; remove it";

/// A row of the table with its command and options.
struct TableCommand {
  const CommandRow* row;
  std::unique_ptr<Command> command;  // nullptr: a group
  std::vector<Option> options;
};

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

TableCommand& find_command(std::vector<TableCommand>& commands, std::string_view name) {
  return *std::find_if(commands.begin(), commands.end(),
                       [&](const TableCommand& one) { return one.row->name == name; });
}

// Commands and groups of commands.
std::vector<std::string> top_level_commands(std::span<const CommandRow> table) {
  std::vector<std::string> names;
  for (const CommandRow& row : table) {
    const std::string_view name = row.name;
    if (name.find(' ') == std::string_view::npos) names.emplace_back(name);
  }
  return names;
}

// The program also has the options of the default command.
ProgramSpec make_spec(CommonFlags& flags, const std::vector<TableCommand>& commands) {
  ProgramSpec spec;
  spec.name = "trainer";
  spec.description = "Trains multilayer perceptrons on tables and images, reproducibly.";
  spec.footer = help_footer();
  spec.default_footer = train_help_footer();
  spec.options = flags.options();
  const std::vector<Option>& shared = commands.front().options;
  spec.options.insert(spec.options.end(), shared.begin(), shared.end());
  for (Option& option : flags.override_options()) spec.options.push_back(std::move(option));
  for (const TableCommand& one : commands) {
    const bool is_default = &one == &commands.front();
    spec.commands.push_back({one.row->name, one.row->help,
                             is_default ? std::vector<Option>() : one.options,
                             one.command == nullptr});
  }
  return spec;
}

bool* json_flag(const TableCommand& command) {
  for (const Option& option : command.options) {
    if (option.names == "--json") return std::get<bool*>(option.target);
  }
  return nullptr;
}

void refuse(const Problems& problems) {
  if (problems.empty()) return;
  throw Error(ErrorKind::kUsage, fmt::format("{}", fmt::join(problems, "\n")));
}

// Reported first: what follows an unknown flag is most likely its value.
void refuse_unknown_flags(const ParsedArguments& parsed) {
  Problems problems;
  for (const std::string& flag : parsed.unknown_flags) {
    problems.push_back(
        fmt::format("{}: unknown flag{}", flag, suggest_flag(flag, parsed.known_flags)));
  }
  refuse(problems);
}

// `trainer --json eval` is `trainer eval --json`.
void pass_json_on(const TableCommand& from, const TableCommand& to, Problems& problems) {
  const bool* given = json_flag(from);
  if (given == nullptr || !*given) return;
  if (bool* json = json_flag(to)) {
    *json = true;
  } else {
    problems.emplace_back(kNoJson);
  }
}

CommandLine show_text(std::string text) { return {nullptr, "", {}, std::move(text)}; }

}  // namespace

CommandLine parse_command_line(std::span<const CommandRow> table, int argc,
                               const char* const* argv) {
  CommonFlags flags;
  std::vector<TableCommand> commands = make_commands(table);
  const ParsedArguments parsed = parse_arguments(make_spec(flags, commands), argc, argv);
  if (parsed.wants_help) return show_text(parsed.help());
  if (flags.wants_version()) return show_text(version_text());
  if (flags.wants_help()) return show_text(parsed.help());
  refuse_unknown_flags(parsed);
  Problems problems;
  CommandLine line;
  line.common = flags.read(top_level_commands(table), problems);
  TableCommand& standard = commands.front();
  TableCommand& named = parsed.command.empty() ? standard : find_command(commands, parsed.command);
  named.command->check(line.common, problems);
  TableCommand& chosen = flags.wants_config() ? find_command(commands, kPrintConfig) : named;
  pass_json_on(standard, chosen, problems);
  refuse(problems);
  line.name = chosen.row->name;
  line.command = std::move(chosen.command);
  line.common.command_line = fmt::format("{}", fmt::join(argv, argv + argc, " "));
  return line;
}

}  // namespace trainer::cli
