// SPDX-License-Identifier: Apache-2.0
#include "cli/suggestions.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/suggest.h"
#include "trainer/config/fields.h"
#include "trainer/config/reference.h"

namespace trainer::cli {
namespace {

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const auto near = nearest_word(word, candidates);
  return near ? fmt::format("; did you mean \"{}\"?", *near) : "";
}

bool is_one_of(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_yaml(const std::string& word) {
  const std::string extension = lower_case(std::filesystem::path(word).extension().string());
  return extension == ".yaml" || extension == ".yml";
}

bool is_existing_file(const std::string& word) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(word, ignored);
}

// Suggests the flag for a file name that was given without one.
std::string suggest_flag_of_file(const std::string& word, const std::vector<std::string>& flags) {
  if (is_one_of(flags, "--data") && (is_existing_file(word) || !is_one_of(flags, "--output"))) {
    return fmt::format("; a table is given as --data {}", word);
  }
  if (is_one_of(flags, "--output"))
    return fmt::format("; a file to write is given as --output {}", word);
  return fmt::format("; a table is given as data.path={}", word);
}

// Suggests a command for the name that other programs give it, for the second word of a command of
// two words, or for a misspelled name.
std::string suggest_command(const std::string& word, const std::vector<std::string>& commands) {
  static constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
      {"learn", "train"},  {"test", "eval"},      {"evaluate", "eval"},
      {"score", "eval"},   {"infer", "predict"},  {"apply", "predict"},
      {"ls", "runs list"}, {"show", "runs show"}, {"validate", "config check"}};
  if (word == "version") return "; use --version";
  if (word == "resume") return "; use --resume RUN_OR_CHECKPOINT";
  for (const auto& [other, name] : kOtherNames) {
    if (word == other && is_one_of(commands, name))
      return fmt::format("; did you mean \"{}\"?", name);
  }
  for (const std::string& name : commands) {
    if (name.ends_with(" " + word)) return fmt::format("; did you mean \"{}\"?", name);
  }
  return suggestion(word, commands);
}

}  // namespace

// The name may come from another tool (`--max-epochs`) or be misspelled.
std::string suggest_flag(const std::string& given, const std::vector<std::string>& known_flags) {
  std::string word = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  std::replace(word.begin(), word.end(), '-', '_');
  if (word == "data") {
    return "; use data.path=VALUE, or write a configuration for a table with trainer init";
  }
  if (const auto fields = config::fields_named(word);
      !fields.empty() && !config::is_section(word)) {
    const config::Field& field = *fields.front();
    return field.flag.empty() ? fmt::format("; use {}=VALUE", field.path)
                              : fmt::format("; use {} VALUE", field.flag);
  }
  return suggestion(given, known_flags);
}

std::string unknown_word(const std::string& word, const std::string& origin,
                         const std::vector<std::string>& commands,
                         const std::vector<std::string>& flags) {
  const bool may_be_command = origin != "--set";
  const std::string problem = fmt::format("{}: expected {}key=value, got {}", origin,
                                          may_be_command ? "a command or " : "", in_quotes(word));
  if (!may_be_command) return problem + suggestion(word, commands);
  const std::string command = suggest_command(word, commands);
  if (!command.empty()) return problem + command;
  if (is_yaml(word))
    return problem + fmt::format("; a configuration is given as --config {}", word);
  const bool has_extension = std::filesystem::path(word).has_extension();
  if (is_existing_file(word) || has_extension) return problem + suggest_flag_of_file(word, flags);
  return problem + "; trainer --help lists the commands";
}

std::string unknown_topic(const std::string& origin, const std::string& word,
                          const std::vector<std::string>& commands) {
  std::vector<std::string> topics = commands;
  for (const config::Field& field : config::fields()) {
    topics.push_back(field.path.substr(field.path.rfind('.') + 1));
    topics.push_back(field.path);
    topics.push_back(config::section_of(field));
  }
  const std::string near = suggestion(word, topics);
  return fmt::format("{}: expected a {}configuration key, got {}{}", origin,
                     commands.empty() ? "" : "command or a ", in_quotes(word),
                     near.empty() ? "; trainer --help lists the commands, trainer config reference "
                                    "the keys"
                                  : near);
}

std::string missing_command(const std::string& group, const std::vector<std::string>& commands,
                            const std::vector<std::string>& arguments) {
  return fmt::format("{}: expected {}, got {}{}", group, joined(commands, " or "),
                     arguments.empty() ? "nothing" : in_quotes(arguments.front()),
                     arguments.empty() ? "" : suggestion(arguments.front(), commands));
}

}  // namespace trainer::cli
