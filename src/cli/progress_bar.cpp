// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "trainer/core/log.h"
#include "trainer/core/stopwatch.h"
#include "trainer/core/terminal.h"
#include "trainer/core/text.h"

namespace trainer::cli {
namespace {

constexpr int kBarWidth = 20;

std::string bar(double fraction) {
  const int filled = std::clamp(static_cast<int>(fraction * kBarWidth), 0, kBarWidth);
  return std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(kBarWidth - filled), '-');
}

}  // namespace

std::string progress_text(const run::Progress& progress, double seconds, int width) {
  const double in_epoch =
      static_cast<double>(progress.samples) / static_cast<double>(progress.num_samples);
  const double rate = seconds > 0 ? static_cast<double>(progress.total_samples) / seconds : 0;
  const auto left = static_cast<double>(
      (progress.num_epochs - progress.epoch + 1) * progress.num_samples - progress.samples);
  std::string text =
      fmt::format("epoch {}/{} [{}] {:3.0f} %  {} samples/s", progress.epoch, progress.num_epochs,
                  bar(in_epoch), 100 * in_epoch, with_thousands(std::llround(rate)));
  if (std::isfinite(progress.loss)) text += "  loss " + loss_text(progress.loss);
  if (rate > 0) text += fmt::format("  {} left", human_duration(left / rate));
  // One column stays free: a full line would wrap and could not be drawn again.
  return text.substr(0, static_cast<std::size_t>(std::max(1, width - 1)));
}

run::ProgressListener make_progress_listener() {
  struct State {
    Terminal terminal = standard_error_terminal();
    Stopwatch run;
    double next = 0;  // seconds at which the next line is due
    bool started = false;
  };
  return [state = std::make_shared<State>()](const run::Progress& progress) {
    if (!state->started) {
      state->run.restart();
      state->started = true;
      state->next = state->terminal.redraws ? 0.1 : 30;
    }
    const double now = state->run.seconds();
    if (now < state->next) return;
    state->next = now + (state->terminal.redraws ? 0.1 : 30);
    const std::string text =
        progress_text(progress, now, state->terminal.redraws ? state->terminal.width : 200);
    if (state->terminal.redraws) {
      log::show_status(text);
    } else {
      log::info(text);
    }
  };
}

}  // namespace trainer::cli
