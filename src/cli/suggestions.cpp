// SPDX-License-Identifier: Apache-2.0
#include "cli/suggestions.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "trainer/config/fields.h"
#include "trainer/core/format.h"
#include "trainer/core/parse.h"
#include "trainer/core/suggest.h"

namespace trainer::cli {
namespace {

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const auto near = nearest_word(word, candidates);
  return near ? fmt::format("; did you mean \"{}\"?", *near) : "";
}

bool is_yaml(const std::string& word) {
  std::error_code ignored;
  const std::string extension = lower_case(std::filesystem::path(word).extension().string());
  return extension == ".yaml" || extension == ".yml" ||
         std::filesystem::is_regular_file(word, ignored);
}

}  // namespace

// A name from another tool, `--max-epochs`, or a misspelled one.
std::string suggest_flag(const std::string& given, const std::vector<std::string>& known_flags) {
  std::string word = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  std::replace(word.begin(), word.end(), '-', '_');
  for (const config::Field& field : config::fields()) {
    const bool same =
        std::find(field.aliases.begin(), field.aliases.end(), word) != field.aliases.end() ||
        field.path.substr(field.path.rfind('.') + 1) == word;
    if (!same) continue;
    return field.flag.empty() ? fmt::format("; use {}=VALUE", field.path)
                              : fmt::format("; use {} VALUE", field.flag);
  }
  return suggestion(given, known_flags);
}

std::string unknown_word(const std::string& word, const std::string& origin,
                         const std::vector<std::string>& commands) {
  const bool may_be_command = origin != "--set";
  const std::string problem = fmt::format("{}: expected {}key=value, got {}", origin,
                                          may_be_command ? "a command or " : "", in_quotes(word));
  const std::string command = suggestion(word, commands);
  if (may_be_command && command.empty() && is_yaml(word)) {
    return problem + fmt::format("; a configuration is given as --config {}", word);
  }
  return problem + command;
}

std::string unknown_topic(const std::string& word, const std::vector<std::string>& commands) {
  const std::string near = suggestion(word, commands);
  return fmt::format("help: expected a command, got {}{}", in_quotes(word),
                     near.empty() ? "; trainer --help lists them" : near);
}

std::string missing_command(const std::string& group, const std::vector<std::string>& commands,
                            const std::vector<std::string>& arguments) {
  return fmt::format("{}: expected {}, got {}{}", group, joined(commands, " or "),
                     arguments.empty() ? "nothing" : in_quotes(arguments.front()),
                     arguments.empty() ? "" : suggestion(arguments.front(), commands));
}

}  // namespace trainer::cli
