// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <algorithm>
#include <cstddef>

#include "trainer/core/log.h"

namespace trainer::cli {

std::string first_that_fits(const std::vector<std::string>& texts, int width) {
  const auto max_size = static_cast<std::size_t>(std::max(1, width - 1));
  for (const std::string& text : texts) {
    if (text.size() <= max_size) return text;
  }
  return texts.back().substr(0, max_size);
}

void ProgressLine::update(const MakeText& make_text) {
  const double now = stopwatch_.seconds();
  if (now < next_) return;
  next_ = now + interval();
  constexpr int kPlainWidth = 200;
  const std::string text = make_text(now, terminal_.redraws ? standard_error_width() : kPlainWidth);
  terminal_.redraws ? log::show_status(text) : log::info(text);
}

}  // namespace trainer::cli
