// SPDX-License-Identifier: Apache-2.0
// Finds what may be typed at the cursor of a command line. All candidates come from the tables of
// commands, options and keys.
#include "cli/complete.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "trainer/base/io/user_folders.h"
#include "trainer/config/fields.h"
#include "trainer/run/tracking/run_entry.h"

#include "cli/complete_values.h"
#include "cli/option.h"
#include "cli/program.h"
#include "cli/typed_line.h"

namespace trainer::cli {
namespace {

namespace fs = std::filesystem;

// Returns the commands of `group`, or all commands and groups of the program if it is empty.
std::vector<Candidate> commands(std::span<const CommandRow> table, const std::string& group) {
  const std::string before = group.empty() ? "" : group + " ";
  std::vector<Candidate> candidates;
  for (const CommandRow& row : table) {
    const std::string_view name = row.name;
    if (!name.starts_with(before)) continue;
    const std::string_view inner = name.substr(before.size());
    if (inner.find(' ') != std::string_view::npos) continue;
    candidates.push_back({std::string(inner), row.help});
  }
  return candidates;
}

void add_flag(const Option& option, std::vector<Candidate>& candidates) {
  for (const std::string& name : names_of(option)) candidates.push_back({name, option.help});
}

// Returns the flags that the command takes, except those that were given and may not be repeated.
std::vector<Candidate> flags(const Program& program, const TypedLine& line) {
  std::vector<Candidate> candidates;
  const auto add = [&](const std::vector<Option>& options) {
    for (const Option& option : options) {
      const bool is_given = line.given.contains(option.names) && !is_repeatable(option);
      if (!is_positional(option) && !is_given) add_flag(option, candidates);
    }
  };
  add(line.command->options);
  add(program.spec.options);
  const std::vector<config::Field>& fields = config::fields();
  const auto is_taken = [&](const config::Field& field) { return takes_key(line, field.path); };
  if (std::all_of(fields.begin(), fields.end(), is_taken)) add(program.spec.config_options);
  bool unused = false;
  add_flag({kHelpFlag, &unused, "", kHelpOfHelp}, candidates);
  return candidates;
}

Completion flag_or_value(const Program& program, const TypedLine& line, const std::string& typed) {
  const std::size_t equals = typed.find('=');
  if (equals == std::string::npos) return {flags(program, line), Paths::kNone, ""};
  for (const Option* option : options_of(program, line)) {
    if (is_flag(*option) || !has_name(*option, typed.substr(0, equals))) continue;
    return behind(typed.substr(0, equals + 1),
                  option_values(line, *option, typed.substr(equals + 1)));
  }
  return {};
}

}  // namespace

Completion complete(std::span<const CommandRow> table, std::span<const std::string> words) {
  Program program(table);
  const std::string typed = words.empty() ? "" : words.back();
  const TypedLine line =
      read_typed_line(program, words.first(words.empty() ? 0 : words.size() - 1));
  if (line.awaiting != nullptr) return option_values(line, *line.awaiting, typed);
  if (typed.starts_with('-')) return flag_or_value(program, line, typed);
  if (!line.group.empty()) return {commands(table, line.group), Paths::kNone, ""};
  const Option* argument = next_argument(program, line);
  Completion completion =
      argument == nullptr ? Completion() : option_values(line, *argument, typed);
  const bool is_key = typed.find_first_of(".=") != std::string::npos;
  if (line.is_named || !line.arguments.empty() || is_key) return completion;
  std::vector<Candidate> all = commands(table, "");
  all.insert(all.end(), completion.candidates.begin(), completion.candidates.end());
  completion.candidates = std::move(all);
  return completion;
}

std::vector<Candidate> path_candidates(Paths paths, const std::string& typed) {
  std::vector<Candidate> candidates;
  if (paths == Paths::kNone) return candidates;
  const std::string folder = typed.substr(0, typed.rfind('/') + 1);  // npos + 1 is 0
  const std::string name = typed.substr(folder.size());
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator(folder.empty() ? "." : with_home(folder).value_or(folder), ignored)) {
    const std::string found = entry.path().filename().string();
    if (found.starts_with('.') && !name.starts_with('.')) continue;
    const bool is_run = paths != Paths::kFiles && tracking::kind_of(entry.path());
    if (entry.is_directory(ignored)) {
      candidates.push_back({folder + found + (is_run ? "" : "/"), "", !is_run});
    } else if (paths == Paths::kFiles ||
               (paths == Paths::kCheckpoints && entry.path().extension() == ".pt")) {
      candidates.push_back({folder + found});
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.text < b.text; });
  return candidates;
}

}  // namespace trainer::cli
