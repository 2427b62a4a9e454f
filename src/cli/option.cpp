// SPDX-License-Identifier: Apache-2.0
#include "cli/option.h"

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/parse.h"

namespace trainer::cli {

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

}  // namespace trainer::cli
