// SPDX-License-Identifier: Apache-2.0
#include "cli/live_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/text_table.h"
#include "trainer/metrics/score.h"
#include "trainer/run/tracking/comparison.h"
#include "trainer/run/tracking/query.h"

namespace trainer::cli {
namespace {

constexpr int kCurveHeight = 8;
constexpr std::size_t kShownEpochs = 5;

std::string summary_text(const run::EpochSummary& summary) {
  std::string text = summary.loss ? metrics::loss_text(*summary.loss) : "not finite";
  if (summary.accuracy) text += " " + metrics::percent_text(*summary.accuracy);
  return text;
}

/// Returns the finite losses of all epochs, reduced to at most `width` values by taking means of
/// neighbors.
std::vector<double> losses_of(const run::History& history, std::size_t width) {
  std::vector<double> all;
  for (const run::EpochRecord& epoch : history.epochs) {
    const std::optional<double> loss = epoch.validation_or_train().loss;
    if (loss && std::isfinite(*loss)) all.push_back(*loss);
  }
  return tracking::means_of_neighbors(all, width);
}

void add_curve(const run::History& history, int width, Ink ink, std::vector<std::string>& lines) {
  constexpr std::size_t kLabel = 12;
  std::vector<double> losses =
      losses_of(history, static_cast<std::size_t>(std::max(20, width)) - kLabel - 1);
  if (losses.size() < 2) return;
  const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
  const double lowest = *low;
  const double highest = *high;
  // This offset keeps the lowest value visible as an eighth of a line.
  const double floor = (highest - lowest) / (kCurveHeight * 8);
  for (double& loss : losses) loss = loss - lowest + floor;
  const std::vector<std::string> curve = draw_curve(losses, kCurveHeight, ink);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    std::string label;
    if (i == 0) label = metrics::loss_text(highest);
    if (i + 1 == curve.size()) label = metrics::loss_text(lowest);
    lines.push_back(fmt::format("{:>{}} {}", label, kLabel - 1, curve[i]));
  }
}

std::string left_text(const tracking::RunEntry& entry) {
  if (entry.state != tracking::State::kRunning || entry.epochs == 0) return "";
  const double seconds = entry.seconds / static_cast<double>(entry.epochs) *
                         static_cast<double>(entry.planned_epochs - entry.epochs);
  return fmt::format(", {} left", human_duration(seconds));
}

}  // namespace

std::string epoch_line(const run::EpochRecord& epoch, int64_t num_epochs) {
  std::string line =
      fmt::format("epoch {:>{}}/{}  train {}", epoch.epoch, std::to_string(num_epochs).size(),
                  num_epochs, summary_text(epoch.train));
  if (epoch.validation) line += fmt::format("  val {}", summary_text(*epoch.validation));
  return line + fmt::format("  {}", human_duration(epoch.time_seconds));
}

std::vector<std::string> live_view(const tracking::RunEntry& entry, const run::History& history,
                                   int width, Ink ink) {
  std::vector<std::string> lines = {
      fmt::format("{}  {}{}  epoch {}, {}{}", entry.name, to_text(entry.state),
                  entry.reason.empty() ? "" : fmt::format(" ({})", entry.reason),
                  tracking::shown_value(entry, "epochs"), tracking::shown_value(entry, "time"),
                  left_text(entry))};
  if (entry.best) lines.push_back("best " + tracking::shown_value(entry, "best"));
  add_curve(history, width, ink, lines);
  const std::size_t count = history.epochs.size();
  for (std::size_t i = count - std::min(count, kShownEpochs); i < count; ++i) {
    lines.push_back(epoch_line(history.epochs[i], entry.planned_epochs));
  }
  for (std::string& line : lines) line = shortened(line, static_cast<std::size_t>(width));
  return lines;
}

namespace {

constexpr int kEighths = 8;

const char* glyph(int eighths, Ink ink) {
  static constexpr std::array<const char*, kEighths + 1> kBlocks = {" ", "▁", "▂", "▃", "▄",
                                                                    "▅", "▆", "▇", "█"};
  static constexpr std::array<const char*, kEighths + 1> kAscii = {" ", ".", ".", ".", ":",
                                                                   ":", ":", "#", "#"};
  return (ink == Ink::kBlocks ? kBlocks : kAscii).at(static_cast<std::size_t>(eighths));
}

}  // namespace

std::vector<std::string> draw_curve(std::span<const double> values, int height, Ink ink) {
  const double max_value = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::vector<int> levels;  // in eighths of a line
  levels.reserve(values.size());
  for (const double value : values) {
    const int level =
        max_value > 0 ? static_cast<int>(std::lround(value / max_value * height * kEighths)) : 0;
    levels.push_back(std::max(level, value > 0 ? 1 : 0));
  }
  std::vector<std::string> lines;
  lines.reserve(static_cast<std::size_t>(height));
  for (int row = height - 1; row >= 0; --row) {
    std::string line;
    for (const int level : levels) {
      line += glyph(std::clamp(level - row * kEighths, 0, kEighths), ink);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace trainer::cli
