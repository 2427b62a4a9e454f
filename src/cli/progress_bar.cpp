// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/time/long_work.h"
#include "trainer/metrics/score.h"

namespace trainer::cli {
namespace {

std::string bar(double fraction, int width) {
  const int filled = std::clamp(static_cast<int>(fraction * width), 0, width);
  return " [" + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(width - filled), '-') + "]";
}

// Returns the time until this run and the others are complete, such as "at most 12.0 s left".
std::string time_left(const run::Progress& progress, const OtherRuns& others, double seconds,
                      double samples_per_second) {
  const auto samples = static_cast<double>(
      (progress.num_epochs - progress.epoch + 1) * progress.num_samples - progress.samples);
  double own = samples / samples_per_second;
  double each = seconds + own;
  bool is_most = progress.may_stop_early;
  if (progress.may_stop_early && others.mean_seconds > seconds) {
    own = std::min(own, others.mean_seconds - seconds);
    is_most = false;
  }
  if (others.mean_seconds > 0) each = others.mean_seconds;
  const int64_t rounds =
      (others.num_left + others.num_trained_at_once - 1) / others.num_trained_at_once;
  return fmt::format("{}{} left", is_most ? "at most " : "",
                     human_duration(own + static_cast<double>(rounds) * each));
}

}  // namespace

std::string progress_text(const run::Progress& progress, const OtherRuns& others, double seconds,
                          int width) {
  const double in_epoch =
      static_cast<double>(progress.samples) / static_cast<double>(progress.num_samples);
  const double rate = seconds > 0 ? static_cast<double>(progress.total_samples) / seconds : 0;
  const std::string epoch =
      fmt::format("{}{}epoch {}/{}", others.name, others.name.empty() ? "" : "  ", progress.epoch,
                  progress.num_epochs);
  const std::string percent = fmt::format(" {:3.0f} %", 100 * in_epoch);
  const std::string speed = fmt::format("  {} samples/s", with_thousands(std::llround(rate)));
  const std::string loss =
      std::isfinite(progress.loss) ? "  loss " + metrics::loss_text(progress.loss) : "";
  const std::string time = rate > 0 ? "  " + time_left(progress, others, seconds, rate) : "";
  constexpr int kLong = 20;
  constexpr int kShort = 8;
  return first_that_fits({epoch + bar(in_epoch, kLong) + percent + speed + loss + time,
                          epoch + bar(in_epoch, kShort) + percent + speed + loss + time,
                          epoch + percent + speed + loss + time, epoch + percent + loss + time,
                          epoch + percent + time, epoch + percent},
                         width);
}

run::ProgressListener make_progress_listener(OtherRuns others) {
  // The line is created at the first step, so that loading does not count for the speed.
  return [line = std::make_shared<std::optional<ProgressLine>>(),
          others = std::move(others)](const run::Progress& progress) {
    if (!*line) line->emplace();
    (*line)->update(
        [&](double seconds, int width) { return progress_text(progress, others, seconds, width); });
  };
}

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
