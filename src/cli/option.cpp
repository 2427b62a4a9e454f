// SPDX-License-Identifier: Apache-2.0
#include "cli/option.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

namespace trainer::cli {

std::vector<std::string> names_of(const Option& option) {
  std::vector<std::string> names;
  std::istringstream list(option.names);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return names;
}

bool is_key_value(const std::string& word) {
  const std::size_t equals = word.find('=');
  std::error_code ignored;
  return equals != std::string::npos && equals > 0 && word.find('/') > equals &&
         !std::filesystem::exists(word, ignored);
}

bool has_name(const Option& option, std::string_view name) {
  const std::vector<std::string> names = names_of(option);
  return std::find(names.begin(), names.end(), name) != names.end();
}

void parse_count(std::string_view flag, const std::string& text, int64_t& count, Problems& problems,
                 int64_t min) {
  if (text.empty()) return;
  const std::optional<int64_t> value = parse_int(text);
  if (value && *value >= min) {
    count = *value;
  } else {
    problems.push_back(
        fmt::format("{}: expected an integer >= {}, got {}", flag, min, in_quotes(text)));
  }
}

void parse_time(const std::string& text, double& seconds, Problems& problems) {
  if (text.empty()) return;
  seconds = parse_duration(text).value_or(0);
  if (seconds > 0) return;
  problems.push_back(
      fmt::format("--time: expected a time such as 60s, 10m or 2h, got {}", in_quotes(text)));
}

}  // namespace trainer::cli
