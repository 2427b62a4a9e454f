// SPDX-License-Identifier: Apache-2.0
#include "cli/unknown_words.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "trainer/config/fields.h"
#include "trainer/core/text.h"

namespace trainer::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::string meant(const std::string& word, const std::vector<std::string>& candidates) {
  const auto near = nearest_word(word, candidates);
  return near ? fmt::format("; did you mean \"{}\"?", *near) : "";
}

// Those of an application and of the commands that were given.
void add_flags(const CLI::App& app, std::vector<std::string>& flags) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (const CLI::App* command : app.get_subcommands()) add_flags(*command, flags);
}

bool is_yaml(const std::string& word) {
  std::error_code ignored;
  const std::string extension = lower_case(std::filesystem::path(word).extension().string());
  return extension == ".yaml" || extension == ".yml" ||
         std::filesystem::is_regular_file(word, ignored);
}

}  // namespace

std::vector<std::string> unknown_flags(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const std::string& word : app.remaining(true)) {
    if (word.size() >= 2 && word[0] == '-') flags.push_back(word.substr(0, word.find('=')));
  }
  return flags;
}

// `--max-epochs` of another tool, or a slip of the finger.
std::string suggest_flag(const CLI::App& app, const std::string& given) {
  std::string word = given.substr(given.find_first_not_of('-'));
  std::replace(word.begin(), word.end(), '-', '_');
  for (const config::Field& field : config::fields()) {
    const bool same =
        std::find(field.elsewhere.begin(), field.elsewhere.end(), word) != field.elsewhere.end() ||
        field.path.substr(field.path.rfind('.') + 1) == word;
    if (!same) continue;
    return field.flag.empty() ? fmt::format("; use {}=VALUE", field.path)
                              : fmt::format("; use {} VALUE", field.flag);
  }
  std::vector<std::string> flags;
  add_flags(app, flags);
  return meant(given, flags);
}

std::string unknown_word(const CLI::App& app, const std::string& word, const std::string& place) {
  const bool may_be_command = place != "--set";
  std::string problem = fmt::format("{}: expected {}key=value, got {}", place,
                                    may_be_command ? "a command or " : "", in_quotes(word));
  const std::string command = meant(word, command_names(app));
  if (may_be_command && command.empty() && is_yaml(word)) {
    return problem + fmt::format("; a configuration is given as --config {}", word);
  }
  return problem + command;
}

std::string missing_command(const CLI::App& command, const std::vector<std::string>& words) {
  const std::vector<std::string> names = command_names(command);
  return fmt::format("{}: expected {}, got {}{}", command.get_name(), joined(names, " or "),
                     words.empty() ? "nothing" : in_quotes(words.front()),
                     words.empty() ? "" : meant(words.front(), names));
}

}  // namespace trainer::cli
