// SPDX-License-Identifier: Apache-2.0
#include "table/source/column_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/suggest.h"
#include "trainer/base/text/utf8.h"
#include "trainer/table/source/csv_format.h"

#include "table/error.h"

namespace trainer::data {
void require_good_names(const std::string& location, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, size_t> first_place;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) {
      const std::string hint = i == 0 ? " (in pandas: index=False omits the row index)" : "";
      throw data_error(location, fmt::format("column {} has no name; add one{}", i + 1, hint));
    }
    if (!is_utf8(names[i])) {
      throw data_error(location,
                       fmt::format("column {}: expected a name in UTF-8, got {}; save the "
                                   "file as UTF-8",
                                   i + 1, in_quotes(names[i])));
    }
    const auto [found, is_new] = first_place.emplace(names[i], i);
    if (!is_new) {
      throw data_error(
          location, fmt::format("duplicate column {}, in positions {} and {}; rename one of them",
                                in_quotes(names[i]), found->second + 1, i + 1));
    }
  }
}

void require_several(const std::vector<std::string>& names, const std::string& location,
                     char delimiter, const std::string& option) {
  if (names.size() > 1) return;
  const std::string& only_name = names.front();
  if (only_name.starts_with('#')) {
    throw data_error(location, fmt::format("expected a header with column names, got the comment "
                                           "{}; remove the lines before the header",
                                           in_quotes(only_name)));
  }
  std::string fix = fmt::format(
      "choose another with {} (comma, semicolon, tab or the "
      "character itself)",
      option.substr(0, option.find_first_of(": ")));
  for (const char other : {',', ';', '\t', '|'}) {
    if (other != delimiter && only_name.find(other) != std::string::npos) {
      fix = fmt::format("did you mean {}{}?", option, delimiter_name(other));
      break;
    }
  }
  throw data_error(location, fmt::format("with the delimiter {} there is only one column, {}; {}",
                                         delimiter_name(delimiter), in_quotes(only_name), fix));
}

std::string missing_column_help(std::string_view wanted, const std::vector<std::string>& names) {
  if (const auto nearest = nearest_word(wanted, names)) {
    return fmt::format("did you mean {}?", in_quotes(*nearest));
  }
  if (std::all_of(names.begin(), names.end(),
                  [](const std::string& name) { return parse_double(name).has_value(); })) {
    return "the first line contains only numbers; expected a header with column names";
  }
  constexpr size_t kMaxShown = 8;
  std::vector<std::string> shown(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxShown)));
  if (names.size() > kMaxShown) shown.push_back(fmt::format("{} more", names.size() - kMaxShown));
  return "the header has " + joined(shown);
}

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

}  // namespace trainer::data
