// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"

#include "cli/common_options.h"
#include "cli/help_text.h"
#include "cli/parser.h"
#include "cli/program.h"
#include "cli/suggestions.h"

namespace trainer::cli {
namespace {

constexpr const char* kPrintConfig = "config print";  // the command that --print-config runs

// Returns the names of all commands and of groups such as "config".
std::vector<std::string> command_names(std::span<const CommandRow> table) {
  std::vector<std::string> names;
  for (const CommandRow& row : table) names.emplace_back(row.name);
  return names;
}

// Reports a misspelled command (`trainer predcit --data x.csv`) rather than its flags, which are
// unknown to the default command.
void refuse_unknown_command(const ParsedArguments& parsed, std::span<const CommandRow> table,
                            std::span<const char* const> words) {
  if (!parsed.command.empty() || parsed.unknown_flags.empty() || words.size() < 2) return;
  const std::string word = words[1];
  if (word.empty() || word.front() == '-' || word.find('=') != std::string::npos) return;
  throw Error(ErrorKind::kUsage,
              unknown_word(word, "command line", command_names(table), parsed.known_flags));
}

void refuse(const Problems& problems) {
  if (problems.empty()) return;
  throw Error(ErrorKind::kUsage, fmt::format("{}", fmt::join(problems, "\n")));
}

// Unknown flags are reported before other problems: the word after one is most likely its value.
void refuse_unknown_flags(const ParsedArguments& parsed) {
  Problems problems;
  for (const std::string& flag : parsed.unknown_flags) {
    problems.push_back(
        fmt::format("{}: unknown flag{}", flag, suggest_flag(flag, parsed.known_flags)));
  }
  refuse(problems);
}

bool was_given(const Option& option) {
  if (const auto* flag = std::get_if<bool*>(&option.target)) return **flag;
  return !std::get<std::string*>(option.target)->empty();
}

// Gives options of the default command that were typed before the name of another one to that one:
// `trainer --json eval` means `trainer eval --json`. Those that it does not have are problems.
void pass_options_on(const TableCommand& from, const TableCommand& to, Problems& problems) {
  for (const Option& option : from.options) {
    if (!was_given(option)) continue;
    const auto same = std::find_if(to.options.begin(), to.options.end(),
                                   [&](const Option& one) { return one.names == option.names; });
    if (same == to.options.end()) {
      problems.push_back(
          fmt::format("{} is not supported by {}; remove it", option.names, to.row->name));
    } else if (is_flag(option)) {
      *std::get<bool*>(same->target) = true;
    } else {
      *std::get<std::string*>(same->target) = *std::get<std::string*>(option.target);
    }
  }
}

CommandLine show_text(std::string text) { return {nullptr, "", {}, std::move(text)}; }

}  // namespace

CommandLine parse_command_line(std::span<const CommandRow> table, int argc,
                               const char* const* argv) {
  Program program(table);
  const CommonFlags& flags = program.flags;
  const ParsedArguments parsed = parse_arguments(program.spec, argc, argv);
  if (parsed.wants_help) return show_text(parsed.help());
  if (flags.wants_version()) return show_text(version_text());
  if (flags.wants_help()) {
    const std::vector<std::string> topics = flags.help_topics();
    return show_text(topics.empty() ? parsed.help()
                                    : help_on_keys("help", topics, command_names(table)));
  }
  refuse_unknown_command(parsed, table, std::span(argv, static_cast<std::size_t>(argc)));
  refuse_unknown_flags(parsed);
  Problems problems;
  CommandLine line;
  line.common = flags.read(command_names(table), parsed.known_flags, problems);
  TableCommand& standard = program.commands.front();
  TableCommand& named = parsed.command.empty() ? standard : *program.find(parsed.command);
  named.command->check(line.common, problems);
  TableCommand& chosen = flags.wants_config() ? *program.find(kPrintConfig) : named;
  if (&chosen != &standard) pass_options_on(standard, chosen, problems);
  refuse(problems);
  line.name = chosen.row->name;
  line.command = std::move(chosen.command);
  line.common.command_line = fmt::format("{}", fmt::join(argv, argv + argc, " "));
  return line;
}

}  // namespace trainer::cli
