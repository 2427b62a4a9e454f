// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/json.h"

#include <fstream>
#include <iterator>
#include <string>

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace trainer {

Json parse_json(std::string_view text) { return Json::parse(text); }

Json parse_json_or_null(std::string_view text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? Json() : value;
}

Json read_json_or_null(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return parse_json_or_null(text);
}

}  // namespace trainer
