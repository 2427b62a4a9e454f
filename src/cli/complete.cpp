// SPDX-License-Identifier: Apache-2.0
// Finds what may be typed at the cursor of a command line. All candidates come from the tables of
// commands, options and keys.
#include "cli/complete.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "trainer/base/io/user_folders.h"
#include "trainer/base/text/format.h"
#include "trainer/config/fields.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/run/tracking/query.h"
#include "trainer/run/tracking/run_entry.h"
#include "trainer/run/tracking/trash.h"
#include "trainer/table/source/inspect.h"
#include "trainer/table/source/table_source.h"

#include "cli/option.h"
#include "cli/program.h"
#include "cli/resolve_config.h"
#include "cli/typed_line.h"

namespace trainer::cli {
namespace {

namespace fs = std::filesystem;

/// Puts `before` in front of all candidates and of the paths that are candidates.
Completion behind(const std::string& before, Completion completion) {
  for (Candidate& candidate : completion.candidates) candidate.text.insert(0, before);
  completion.before.insert(0, before);
  return completion;
}

constexpr const char* kRuns = "runs";  // the default of output_dir

Completion one_of(const std::vector<std::string>& words) {
  Completion completion;
  for (const std::string& word : words) completion.candidates.push_back({word});
  return completion;
}

Completion path(Paths paths) { return {{}, paths, ""}; }

std::string value_of(const TypedLine& line, const std::string& names) {
  const auto found = line.given.find(names);
  return found == line.given.end() ? "" : found->second;
}

// Opening a pipe would block until somebody writes to it.
bool is_file(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored);
}

// Returns the configuration of the run whose model the command uses, or else that of the command
// line.
config::Config configuration(const TypedLine& line) {
  CommonOptions common = line.common;
  if (const fs::path model = value_of(line, "model"); !model.empty()) {
    std::error_code ignored;
    const fs::path run = fs::is_directory(model, ignored) ? model : run::find_run_dir(model);
    common.config_files = {run::RunDir{run}.config()};
  }
  return draft_config(common);
}

// Returns the column names of the table that --data or --query, or else the configuration, names.
std::vector<std::string> columns(const TypedLine& line) {
  data::TableSource source{.path = value_of(line, "--data"), .query = value_of(line, "--query")};
  data::InspectOptions options;
  if (source.path.empty() && source.query.empty()) {
    const config::DataConfig data = configuration(line).data;
    options.delimiter = data.delimiter;
    if (data.path.empty() && data.query.empty()) return {};
    source = data::training_source(data);
  }
  if (const std::string delimiter = value_of(line, "--delimiter"); !delimiter.empty()) {
    options.delimiter = delimiter;
  }
  std::error_code ignored;
  if (fs::exists(source.path, ignored) && !is_file(source.path) &&
      !fs::is_directory(source.path, ignored)) {
    return {};
  }
  return data::column_names(source, options);
}

// Returns the runs in the folder "runs", by name or by path. If none of them begins with `typed`,
// the shell completes folders or checkpoints instead.
Completion runs(const TypedLine& line, const std::string& typed, bool by_name) {
  const std::string folder = std::string(kRuns) + "/";
  const std::string before = by_name && !typed.starts_with(folder) ? "" : folder;
  Completion completion;
  std::error_code ignored;
  bool fits = false;
  for (const auto& entry : fs::directory_iterator(kRuns, ignored)) {
    const std::string name = before + entry.path().filename().string();
    const bool is_given =
        std::find(line.arguments.begin(), line.arguments.end(), name) != line.arguments.end();
    if (is_given || !tracking::kind_of(entry.path())) continue;
    const fs::path target =
        entry.is_symlink(ignored) ? fs::read_symlink(entry.path(), ignored) : "";
    completion.candidates.push_back({name, target.filename().string()});
    fits |= name.starts_with(typed);
  }
  std::sort(completion.candidates.begin(), completion.candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.text < b.text; });
  return fits ? completion : path(by_name ? Paths::kFolders : Paths::kCheckpoints);
}

// Returns the removed runs that `runs restore` and `runs purge` can be given.
Completion removed_names(const TypedLine& line) {
  const std::string folder = value_of(line, "--folder");
  Completion completion;
  for (const auto& entry : tracking::removed_entries(folder.empty() ? kRuns : folder)) {
    const bool is_given =
        std::find(line.arguments.begin(), line.arguments.end(), entry.name) != line.arguments.end();
    if (!is_given) completion.candidates.push_back({entry.name, entry.note});
  }
  return completion;
}

// Returns the names by which `runs list` can sort and show the runs of its folder.
Completion names(const TypedLine& line, const std::string& typed) {
  std::string folder = value_of(line, "folder") + value_of(line, "--folder");
  if (folder.empty()) folder = kRuns;
  std::error_code ignored;
  std::vector<tracking::RunEntry> entries;
  if (fs::is_directory(folder, ignored)) entries = tracking::read_entries(folder);
  const bool is_reversed = typed.starts_with('-');
  return behind(is_reversed ? "-" : "", one_of(tracking::full_names(entries)));
}

// Returns the part of a list such as "a,b" or "[a, b" before its last element.
std::string before_last_element(const std::string& typed) {
  std::size_t begin = typed.find_last_of("[,");
  if (begin == std::string::npos) return "";
  begin = std::min(typed.find_first_not_of(' ', begin + 1), typed.size());
  return typed.substr(0, begin);
}

/// Completes the value of a configuration key.
Completion key_values(const TypedLine& line, const config::Field& field, const std::string& typed) {
  const config::Access& access = field.access;
  if (config::names_columns(access)) {
    const bool is_list =
        std::holds_alternative<config::TextListAccess>(access) && typed.starts_with('[');
    Completion completion;
    for (const std::string& name : columns(line)) {
      completion.candidates.push_back({config::typed_text(access, name), "", is_list});
    }
    return behind(is_list ? before_last_element(typed) : "", std::move(completion));
  }
  Completion completion = one_of(config::words(access));
  if (std::holds_alternative<config::PathAccess>(access)) completion.paths = Paths::kFiles;
  return completion;
}

/// Completes a key that the command takes, section by section: "training.", then
/// "training.epochs=". After the equals sign, completes the value.
Completion keys(const TypedLine& line, const std::string& typed) {
  if (const std::size_t equals = typed.find('='); equals != std::string::npos) {
    const config::Field* field = config::find_field(typed.substr(0, equals));
    if (field == nullptr) return {};
    return behind(typed.substr(0, equals + 1), key_values(line, *field, typed.substr(equals + 1)));
  }
  const std::size_t section = typed.rfind('.') + 1;  // npos + 1 is 0
  Completion completion;
  std::set<std::string> sections;
  for (const config::Field& field : config::fields()) {
    if (field.path.compare(0, section, typed, 0, section) != 0) continue;
    if (!takes_key(line, field.path)) continue;
    const std::size_t dot = field.path.find('.', section);
    if (dot == std::string::npos) {
      completion.candidates.push_back({field.path + "=", first_sentence(field.help), true});
    } else if (sections.insert(field.path.substr(0, dot + 1)).second) {
      completion.candidates.push_back({field.path.substr(0, dot + 1), "keys of the section", true});
    }
  }
  return completion;
}

/// Completes the value of an option or a positional argument, according to Option::value_name.
Completion option_values(const TypedLine& line, const Option& option, const std::string& typed) {
  for (const config::Field& field : config::fields()) {
    if (field.flag == option.names) return key_values(line, field, typed);
  }
  const std::string_view name = option.value_name;
  Completion completion;
  if (name.ends_with(",...")) {
    const std::string before = before_last_element(typed);
    Completion element = option.words.empty() ? names(line, "") : one_of(option.words);
    return behind(before, std::move(element));
  }
  if (name == "FILE") completion = path(Paths::kFiles);
  if (name == "FOLDER") completion = path(Paths::kFolders);
  if (name.starts_with("RUN")) {
    completion = runs(line, typed, !name.starts_with("RUN_OR_CHECKPOINT"));
  }
  if (name.starts_with("REMOVED")) completion = removed_names(line);
  if (name == "COLUMN") completion = one_of(columns(line));
  if (name == "NAME") completion = names(line, typed);
  if (name == kKeyValue) completion = keys(line, typed);
  if (name == kKey) {
    for (const config::Field& field : config::fields()) {
      completion.candidates.push_back({field.path, first_sentence(field.help)});
    }
  }
  for (const std::string& word : option.words) completion.candidates.push_back({word});
  return completion;
}

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
  const bool is_first = line.arguments.empty();
  if (line.is_named && !is_first && argument != nullptr && argument->value_name != kKeyValue) {
    const Completion key = keys(line, typed);
    completion.candidates.insert(completion.candidates.end(), key.candidates.begin(),
                                 key.candidates.end());
  }
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
