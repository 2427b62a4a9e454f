// SPDX-License-Identifier: Apache-2.0
#include "devices/table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

#include "devices/advice.h"

namespace trainer::bench {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

std::string loss_difference_text(const Row& row) {
  const std::string text =
      row.loss_difference == 0 ? "0" : fmt::format("{:.0e}", row.loss_difference);
  return has_right_loss(row) ? text : text + "!";
}

std::size_t config_width(const std::vector<Row>& rows) {
  std::size_t width = 6;
  for (const Row& row : rows) width = std::max(width, config_name(row.setting).size());
  return width;
}

std::string mebibytes_text(double bytes) { return fmt::format("{:.0f}", bytes / kMebibyte); }

std::string growth_text(const Row& row) {
  const std::string text = mebibytes_text(static_cast<double>(row.memory_growth_bytes));
  return has_bounded_memory(row) ? text : text + "!";
}

// Columns of words, or of the values of a row.
std::string line(std::size_t width, const std::array<std::string, 11>& cells) {
  std::string text = fmt::format("{:<{}} ", cells[0], width);
  constexpr std::array<int, 10> kWidths = {8, 8, 8, 7, 7, 7, 6, 11, 9, 7};
  for (std::size_t i = 0; i < kWidths.size(); ++i) {
    text += fmt::format("{:>{}}", cells[i + 1], kWidths[i]);
  }
  return text;
}

std::string row_text(const Row& row, std::size_t width) {
  const Summary& ms = row.step_ms;
  return line(width,
              {config_name(row.setting), milliseconds_text(row.first_step_ms),
               row.warmup_ms == 0 ? "0" : milliseconds_text(row.warmup_ms),
               milliseconds_text(ms.average), milliseconds_text(ms.median),
               milliseconds_text(ms.min), milliseconds_text(ms.max),
               fmt::format("{:.1f}", 100 * ms.variation),
               with_thousands(std::llround(samples_per_second(row))),
               mebibytes_text(static_cast<double>(row.peak_memory_bytes)), growth_text(row)}) +
         fmt::format(" {:>9}\n", loss_difference_text(row));
}

std::string notes(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    const std::string name = config_name(row.setting);
    const int64_t asked = row.asked_steps * static_cast<int64_t>(row.repetition_medians.size());
    if (row.step_ms.num_steps < asked) {
      text += fmt::format("{}: {} of {} steps: the --max-seconds limit was reached\n", name,
                          row.step_ms.num_steps, asked);
    }
    if (!has_right_loss(row)) {
      text += fmt::format("{}: wrong loss: its relative difference must be at most {:.0e}\n", name,
                          row.max_loss_difference);
    }
    if (!has_bounded_memory(row)) {
      text += fmt::format("{}: memory grew by {} in {} steps; at most 100 MB are allowed\n", name,
                          human_bytes(static_cast<uint64_t>(row.memory_growth_bytes)),
                          row.growth_steps);
    }
  }
  return text;
}

std::string workload_table(const std::vector<Row>& rows, std::size_t width) {
  const Setting& setting = rows.front().setting;
  const std::string head = line(width, {"Config", "First ms", "Warm-up", "Avg ms", "Median", "Min",
                                        "Max", "CV %", "Samples/s", "Peak MiB", "Growth"}) +
                           " Loss diff\n";
  std::string text = workload_name(setting);
  if (setting.pass == Pass::kInference) text += ", forward pass";
  text += "\n" + head + std::string(head.size() - 1, '-') + "\n";
  for (const Row& row : rows) text += row_text(row, width);
  text += notes(rows);
  for (const std::string& speed : speed_lines(rows)) text += speed + "\n";
  return text + "\n";
}

std::string missing_text(const char* title, const std::vector<Missing>& missing) {
  std::string text;
  for (const Missing& one : missing) {
    text += fmt::format("{}: {}: {}\n", title, one.name, one.reason);
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace

std::string milliseconds_text(double ms) {
  const int before = ms >= 1 ? static_cast<int>(std::log10(ms)) + 1 : 0;
  return fmt::format("{:.{}f}", ms, std::max(0, 4 - before));
}

std::string comparison_table(const Results& results) {
  std::string text;
  const std::size_t width = config_width(results.rows);
  for (const auto& rows : by_workload(results.rows)) text += workload_table(rows, width);
  text += missing_text("Failed", results.failures);
  text += missing_text("Absent", results.absent);
  return results.rows.empty() ? text : text + recommendation(results.rows) + "\n";
}

}  // namespace trainer::bench
