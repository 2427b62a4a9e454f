// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/json.h"

#include <cstddef>

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace trainer {
namespace {

// The library copies, compares and writes nested values by recursion, so 100,000 nested brackets
// would overflow the stack.
bool is_nested_deeper(std::string_view text, int max_depth) {
  int depth = 0;
  bool is_in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_text) {
      if (c == '\\') ++i;
      is_in_text = c != '"';
    } else if (c == '"') {
      is_in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max_depth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Json parse_json(std::string_view text) { return Json::parse(text); }

Json parse_json_or_null(std::string_view text) {
  if (is_nested_deeper(text, kMaxJsonDepth)) return {};
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) value = nullptr;
  return value;
}

}  // namespace trainer
