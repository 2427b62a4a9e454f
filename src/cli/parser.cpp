// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <cstddef>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/text/text_table.h"

#include "cli/suggestions.h"

namespace trainer::cli {
namespace {

/// Adds an option to CLI11, according to the type of its target.
class OptionAdder {
 public:
  OptionAdder(CLI::App& app, const Option& option) : app_(app), option_(option) {}

  CLI::Option* operator()(bool* flag) const { return app_.add_flag(option_.names, *flag); }
  CLI::Option* operator()(std::string* value) const {
    CLI::Option* added = app_.add_option(option_.names, *value)->type_name(option_.value_name);
    // CLI11 gives a word that fails this check to the next argument: that of the keys.
    if (added->get_positional())
      added->check([](const std::string& word) { return is_key_value(word) ? "a key" : ""; });
    return added;
  }
  CLI::Option* operator()(std::optional<std::string>* value) const {
    const auto write = [value](const std::string& text) { *value = text; };
    return app_.add_option_function<std::string>(option_.names, write)
        ->type_name(option_.value_name);
  }
  CLI::Option* operator()(std::vector<std::string>* values) const {
    CLI::Option* added = app_.add_option(option_.names, *values);
    // Each use of the option takes one value: the next argument may be key=value.
    if (!added->get_positional()) added->allow_extra_args(false);
    return added->type_name(option_.value_name);
  }

 private:
  CLI::App& app_;
  const Option& option_;
};

void add_options(CLI::App& app, const std::vector<Option>& options) {
  // Help texts begin at column 30. They are wrapped here, because older versions of CLI11 do not do
  // it; CLI11 2.6 ends each line with a blank.
  constexpr std::size_t kWidth = 49;
  for (const Option& option : options) {
    CLI::Option* added = std::visit(OptionAdder(app, option), option.target);
    added->description(fmt::format("{}", fmt::join(wrapped(option.help, kWidth), "\n")));
    if (!option.group.empty()) added->group(option.group);
  }
}

void add_command(CLI::App& app, const CommandSpec& spec) {
  const std::size_t space = spec.name.find(' ');
  CLI::App* parent =
      space == std::string::npos ? &app : app.get_subcommand(spec.name.substr(0, space));
  CLI::App* command = parent->add_subcommand(
      space == std::string::npos ? spec.name : spec.name.substr(space + 1), spec.help);
  command->fallthrough();
  command->validate_positionals();
  if (spec.is_group) command->require_subcommand(1);
  add_options(*command, spec.options);
  command->footer(spec.footer);
}

std::shared_ptr<CLI::App> make_app(const ProgramSpec& program) {
  auto app = std::make_shared<CLI::App>(program.description, program.name);
  app->set_help_flag(kHelpFlag, kHelpOfHelp);
  add_options(*app, program.options);
  add_options(*app, program.default_options);
  add_options(*app, program.config_options);
  for (const CommandSpec& spec : program.commands) add_command(*app, spec);
  app->require_subcommand(0, 1);  // after a command, "runs" is a folder and not a command
  app->fallthrough();
  app->allow_extras();
  return app;
}

// Returns the name of the command with its group, such as "config print"; empty if none was given.
// Of several, the last one counts.
std::string command_name(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  if (named.empty()) return "";
  const std::string inner = command_name(*named.back());
  return named.back()->get_name() + (inner.empty() ? "" : " " + inner);
}

// The default command has the options of the program.
std::string help_text(CLI::App& app, const ProgramSpec& program) {
  const std::string& name = program.commands.front().name;
  if (app.get_subcommands().empty()) return program.help;
  if (!app.got_subcommand(name)) return app.help();
  for (CLI::App* command : app.get_subcommands({})) {
    command->group("");   // hides it from the list
    command->disabled();  // hides [SUBCOMMAND] in the usage
  }
  app.footer(program.default_footer);
  return app.get_formatter()->make_help(&app, program.name + " " + name,
                                        CLI::AppFormatMode::Normal);
}

std::vector<std::string> positional_arguments(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) return option->results();
  }
  return {};
}

// Throws a better message than CLI11's "A subcommand is required".
void refuse_missing_command(const CLI::App& app) {
  for (const CLI::App* group : app.get_subcommands()) {
    if (group->get_require_subcommand_min() == 0 || !group->get_subcommands().empty()) continue;
    std::vector<std::string> names;
    for (const CLI::App* command : group->get_subcommands({})) names.push_back(command->get_name());
    throw Error(ErrorKind::kUsage,
                missing_command(group->get_name(), names, positional_arguments(app)));
  }
}

std::vector<std::string> unknown_flags(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const std::string& word : app.remaining(true)) {
    if (word == "--") break;  // words after "--" are not flags
    if (word.size() >= 2 && word[0] == '-') flags.push_back(word.substr(0, word.find('=')));
  }
  return flags;
}

// Adds the long flags of the program and of the commands that were given.
void add_long_flags(const CLI::App& app, std::vector<std::string>& flags) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (const CLI::App* command : app.get_subcommands()) add_long_flags(*command, flags);
}

}  // namespace

ParsedArguments parse_arguments(const ProgramSpec& program, int argc, const char* const* argv) {
  ParsedArguments parsed;
  const std::shared_ptr<CLI::App> app = make_app(program);
  parsed.help = [app, program] { return help_text(*app, program); };
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    parsed.wants_help = true;
    return parsed;
  } catch (const CLI::ParseError& error) {
    refuse_missing_command(*app);
    throw Error(ErrorKind::kUsage, fmt::format("{}; see {} --help", error.what(), program.name));
  }
  parsed.command = command_name(*app);
  parsed.unknown_flags = unknown_flags(*app);
  add_long_flags(*app, parsed.known_flags);
  return parsed;
}

}  // namespace trainer::cli
