// SPDX-License-Identifier: Apache-2.0
#include "cli/format_options.h"

#include <fmt/format.h>

#include "trainer/config/fields.h"

namespace trainer::cli {

Option delimiter_option(FormatOptions& format, const std::string& otherwise) {
  return {"--delimiter", &format.delimiter, "VALUE",
          fmt::format(
              "Delimiter of the table: comma, semicolon, tab or the character itself (default: {})",
              otherwise),
          config::words(config::find_field("data.delimiter")->access)};
}

Option decimal_option(FormatOptions& format, const std::string& otherwise) {
  return {"--decimal", &format.decimal, "VALUE",
          fmt::format("Decimal mark of the numbers: . or , (default: {})", otherwise)};
}

void add_overrides(const FormatOptions& format, std::vector<config::Override>& overrides) {
  if (!format.delimiter.empty()) {
    overrides.push_back({"data.delimiter", format.delimiter, "--delimiter"});
  }
  if (!format.decimal.empty()) overrides.push_back({"data.decimal", format.decimal, "--decimal"});
}

}  // namespace trainer::cli
