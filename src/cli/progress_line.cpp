// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/time/long_work.h"

namespace trainer::cli {

std::string first_that_fits(const std::vector<std::string>& texts, int width) {
  const auto max_size = static_cast<std::size_t>(std::max(1, width - 1));
  for (const std::string& text : texts) {
    if (text.size() <= max_size) return text;
  }
  return texts.back().substr(0, max_size);
}

std::string long_work_text(std::string_view name, double part, double seconds, int width) {
  const std::string what(name);
  if (part <= 0) return first_that_fits({what}, width);
  const std::string done = fmt::format("{}  {:.0f} %", what, 100 * part);
  return first_that_fits(
      {fmt::format("{}  {} left", done, human_duration(seconds / part - seconds)), done, what},
      width);
}

void show_long_work() {
  listen_to_long_work([line = std::optional<ProgressLine>(), is_shown = false](
                          std::string_view name, double part) mutable {
    if (part >= 1) {
      if (is_shown) log::clear_status();
      is_shown = false;
      line.reset();
      return;
    }
    if (!line) line.emplace();
    is_shown |= line->update(
        [&](double seconds, int width) { return long_work_text(name, part, seconds, width); });
  });
}

bool ProgressLine::update(const MakeText& make_text) {
  const double now = stopwatch_.seconds();
  if (now < next_) return false;
  next_ = now + interval();
  constexpr int kPlainWidth = 200;
  const std::string text = make_text(now, terminal_.redraws ? standard_error_width() : kPlainWidth);
  if (terminal_.redraws) {
    log::show_status(text);
  } else {
    log::event("progress", text, Json::object());
  }
  return true;
}

}  // namespace trainer::cli
