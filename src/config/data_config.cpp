// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/data_config.h"

namespace trainer::config {

// https://pandas.pydata.org/docs/reference/api/pandas.read_csv.html, na_values
std::vector<std::string> default_missing_texts() {
  return {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "1.#IND", "1.#QNAN",
          "<NA>", "N/A",      "NA",  "NULL",    "NaN",      "None", "?"};
}

}  // namespace trainer::config
