// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/suggest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "trainer/base/text/similar_text.h"

namespace trainer {
namespace {

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 1.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates) {
  const std::string wanted = folded(word);
  size_t limit = std::max<size_t>(1, word.size() / 3) + 1;  // exclusive
  const std::string* nearest = nullptr;
  for (const std::string& candidate : candidates) {
    const size_t length = std::max(word.size(), candidate.size());
    const size_t distance = edit_distance(wanted, folded(candidate));
    // A word with every letter replaced is another word, however short.
    if (word.empty() || distance >= limit || distance >= length) continue;
    nearest = &candidate;
    limit = distance;
  }
  return nearest == nullptr ? std::nullopt : std::optional(*nearest);
}

}  // namespace trainer
