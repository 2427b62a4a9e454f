// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <algorithm>

#include "cli/help_text.h"

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

ProgramSpec make_spec(CommonFlags& flags, const std::vector<TableCommand>& commands) {
  ProgramSpec spec;
  spec.name = "trainer";
  spec.description = "Trains multilayer perceptrons on tables and images, reproducibly.";
  spec.footer = help_footer();
  spec.default_footer = train_help_footer();
  spec.options = flags.options();
  spec.default_options = commands.front().options;
  spec.config_options = flags.config_options();
  for (const TableCommand& one : commands) {
    const bool is_default = &one == &commands.front();
    const bool is_group = one.command == nullptr;
    spec.commands.push_back({one.row->name, one.row->help,
                             is_default ? std::vector<Option>() : one.options, is_group,
                             is_group ? "" : one.command->footer()});
  }
  return spec;
}

}  // namespace

Program::Program(std::span<const CommandRow> table)
    : commands(make_commands(table)), spec(make_spec(flags, commands)) {}

TableCommand* Program::find(std::string_view name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const TableCommand& one) { return one.row->name == name; });
  return found == commands.end() ? nullptr : &*found;
}

}  // namespace trainer::cli
