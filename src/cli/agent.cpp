// SPDX-License-Identifier: Apache-2.0
#include "cli/agent.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/version.h"

#include "cli/help_text.h"
#include "cli/program.h"

namespace trainer::cli {
namespace {

constexpr const char* kVariables[] = {"AGENT",         "AI_AGENT",      "CLAUDECODE",
                                      "CODEX_SANDBOX", "CURSOR_AGENT",  "GEMINI_CLI",
                                      "CLINE_ACTIVE",  "AUGMENT_AGENT", "OPENCODE_CLIENT"};

bool is_remembered = false;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// The text in the quotes behind `mark`, such as `did you mean `.
std::optional<std::string> quoted_behind(std::string_view line, std::string_view mark) {
  const std::size_t at = line.rfind(std::string(mark) + '"');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + mark.size() + 1);
  return std::string(rest.substr(0, rest.find('"')));
}

/// "training.lerning_rate" of `conf.yaml:3: training.lerning_rate: unknown key`.
std::string word_before(std::string_view line, std::string_view mark) {
  const std::string_view before = line.substr(0, line.find(mark));
  return std::string(before.substr(before.rfind(' ') + 1));
}

/// The part behind the last dot, if both keys have the same sections, as in a YAML file.
std::string within_section(const std::string& key, const std::string& other) {
  const std::size_t dot = key.rfind('.');
  const bool is_same = dot != std::string::npos && other.rfind('.') == dot &&
                       other.compare(0, dot, key, 0, dot) == 0;
  return is_same ? key.substr(dot + 1) : key;
}

struct Place {
  std::string file;
  int64_t line;
};

/// The place that a message begins with: "conf.yaml:3: ".
std::optional<Place> place_of(std::string_view line) {
  const std::size_t end = line.find(": ");
  const std::size_t colon = line.rfind(':', end == 0 ? 0 : end - 1);
  if (end == std::string_view::npos || colon == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> number = parse_int(line.substr(colon + 1, end - colon - 1));
  if (!number) return std::nullopt;
  return Place{std::string(line.substr(0, colon)), *number};
}

/// Replaces the word `from` in the argument that has it: all of it, its key or its value.
std::optional<Json> fixed_command(std::span<const char* const> arguments, const std::string& from,
                                  const std::string& to) {
  Json command = Json::array();
  bool is_found = false;
  for (const std::string argument : arguments) {
    const std::size_t equals = argument.find('=');
    std::string fixed = argument;
    if (!is_found && argument == from) {
      fixed = to;
    } else if (!is_found && equals != std::string::npos && argument.substr(0, equals) == from) {
      fixed = to + argument.substr(equals);
    } else if (!is_found && equals != std::string::npos && argument.substr(equals + 1) == from) {
      fixed = argument.substr(0, equals + 1) + to;
    }
    is_found = is_found || fixed != argument;
    command.push_back(fixed);
  }
  if (!is_found) return std::nullopt;
  return command;
}

std::optional<Json> proposed_fix(std::string_view line, std::span<const char* const> arguments) {
  const std::optional<std::string> with = quoted_behind(line, "did you mean ");
  if (!with) return std::nullopt;
  const bool is_key = line.find(": unknown ") != std::string_view::npos;
  const std::optional<std::string> got = quoted_behind(line, "got ");
  if (!got && !is_key) return std::nullopt;
  const std::string from = is_key ? word_before(line, ": unknown ") : *got;
  if (const std::optional<Place> place = place_of(line)) {
    return Json{{"file", place->file},
                {"line", place->line},
                {"replace", within_section(from, *with)},
                {"with", within_section(*with, from)}};
  }
  const std::optional<Json> command = fixed_command(arguments, from, *with);
  if (!command) return std::nullopt;
  return Json{{"replace", from}, {"with", *with}, {"command", *command}};
}

// "- `predict [FILE] [--output FILE]`: what it does"
std::string command_line(const TableCommand& one) {
  std::string words;
  for (const Option& option : one.options) {
    const std::string name = is_positional(option) ? "" : names_of(option).back();
    const bool has_both = !name.empty() && !option.value_name.empty();
    words += fmt::format(" [{}{}{}]", name, has_both ? " " : "", option.value_name);
  }
  return fmt::format("- `{}{}`{}: {}\n", one.row->name, words,
                     one.command->takes_configuration() ? "*" : "", one.row->help);
}

}  // namespace

std::span<const char* const> agent_variables() { return kVariables; }

bool is_for_agent() { return is_remembered; }

void remember_agent(std::span<const char* const> arguments) {
  const bool is_asked = std::any_of(arguments.begin(), arguments.end(), [](const char* argument) {
    return std::string_view(argument) == kAgentFlag;
  });
  is_remembered = is_asked || (isatty(STDOUT_FILENO) == 0 &&
                               std::any_of(std::begin(kVariables), std::end(kVariables), is_set));
}

Json proposed_fixes(const std::string& message, std::span<const char* const> arguments) {
  Json fixes = Json::array();
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    if (const std::optional<Json> fix = proposed_fix(line, arguments)) fixes.push_back(*fix);
  }
  return fixes;
}

std::string agent_manual(std::span<const CommandRow> table) {
  const Program program(table);
  std::string text = fmt::format(
      "# trainer {}\n\n"
      "Trains multilayer perceptrons on tables (CSV, Parquet, SQLite) and images, and applies "
      "them. Results go to standard output, messages to standard error. `--json` gives a result "
      "as JSON, `{}` short Markdown, and errors as a line of JSON whose `fixes` say what to "
      "change.\n\n"
      "- From a table to a model: `trainer fit TABLE --target COLUMN --time 5m`. It writes "
      "TABLE.yaml, a run folder in `runs/` and `report.html` there.\n"
      "- A RUN is a folder, or its name or tag in `runs/`; without one, commands take the newest. "
      "`summary.json` in it has the scores, `config_resolved.yaml` all settings.\n"
      "- Commands marked * take a configuration: `--config FILE`, `KEY=VALUE`, `--lr VALUE`. "
      "`trainer config reference` lists the keys, `trainer help KEY` describes one, `trainer "
      "config check` checks a file.\n"
      "- Quote values with spaces. The same seed and machine give the same bits.\n\n"
      "## Commands\n\n",
      build_info().version, kAgentFlag);
  for (const TableCommand& one : program.commands) {
    if (one.command != nullptr) text += command_line(one);
  }
  text += "\n## Examples\n\n";
  for (const Example& example : examples()) {
    text += fmt::format("- `{}`: {}\n", example.command, example.meaning);
  }
  text += "\n## Exit codes\n\n";
  for (const ExitCode& code : exit_codes()) text += fmt::format("- {}: {}\n", code.code, code.name);
  return text;
}

}  // namespace trainer::cli
