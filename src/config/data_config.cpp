// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/data_config.h"

#include <algorithm>

namespace trainer::config {

// The values are those of na_values in
// https://pandas.pydata.org/docs/reference/api/pandas.read_csv.html, and "?".
std::vector<std::string> default_missing_texts() {
  return {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "1.#IND", "1.#QNAN",
          "<NA>", "N/A",      "NA",  "NULL",    "NaN",      "None", "?"};
}

std::vector<DatePart> date_parts(const DataConfig& data) {
  std::vector<DatePart> parts;
  const bool are_all = data.dates == std::vector<std::string>{"auto"};
  for (const std::string& name : enum_names<DatePart>()) {
    const bool is_named = std::find(data.dates.begin(), data.dates.end(), name) != data.dates.end();
    if (are_all || is_named) parts.push_back(*from_text<DatePart>(name));
  }
  return parts;
}

}  // namespace trainer::config
