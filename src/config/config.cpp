// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/config.h"

namespace trainer::config {

// https://pandas.pydata.org/docs/reference/api/pandas.read_csv.html, na_values
std::vector<std::string> default_missing_texts() {
  return {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "1.#IND", "1.#QNAN",
          "<NA>", "N/A",      "NA",  "NULL",    "NaN",      "None", "?"};
}

std::vector<int64_t> hidden_sizes(const ModelConfig& model) {
  if (!model.hidden_sizes.empty()) return model.hidden_sizes;
  return std::vector<int64_t>(static_cast<std::size_t>(model.num_layers), model.hidden_size);
}

}  // namespace trainer::config
