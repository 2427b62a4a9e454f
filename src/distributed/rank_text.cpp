// SPDX-License-Identifier: Apache-2.0
#include "trainer/distributed/rank_text.h"

#include <algorithm>
#include <cstddef>

#include "trainer/base/text/format.h"
#include "trainer/base/text/utf8.h"

namespace trainer::dist {

std::string shown(std::string_view text) {
  constexpr std::string_view kAsTheyAre = "\n\"\\";
  std::string result;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, utf8_length(text)));
    if (kAsTheyAre.find(character.front()) != std::string_view::npos) {
      result += character;
    } else {
      const std::string quoted = in_quotes(character);
      result += quoted.substr(1, quoted.size() - 2);
    }
    text.remove_prefix(character.size());
  }
  return result;
}

std::string no_answer_within(std::chrono::milliseconds limit) {
  return "no answer within " + human_duration(std::chrono::duration<double>(limit).count());
}

}  // namespace trainer::dist
