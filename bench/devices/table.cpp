// SPDX-License-Identifier: Apache-2.0
#include "devices/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "trainer/core/format.h"

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

std::string row_text(const Row& row, std::size_t width) {
  const Summary& ms = row.step_ms;
  return fmt::format(
      "{:<{}}  {:>7} {:>7} {:>7} {:>7} {:>6.1f}  {:>10} {:>9.0f} {:>10}\n",
      config_name(row.setting), width, milliseconds_text(ms.average), milliseconds_text(ms.median),
      milliseconds_text(ms.min), milliseconds_text(ms.max), 100 * ms.variation,
      with_thousands(std::llround(samples_per_second(row))),
      static_cast<double>(row.peak_memory_bytes) / kMebibyte, loss_difference_text(row));
}

std::string notes(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    const int64_t asked = row.asked_steps * static_cast<int64_t>(row.repetition_medians.size());
    if (row.step_ms.num_steps < asked) {
      text += fmt::format("{}: {} of {} steps: the --max-seconds limit was reached\n",
                          config_name(row.setting), row.step_ms.num_steps, asked);
    }
    if (!has_right_loss(row)) {
      text += fmt::format("{}: wrong loss: its relative difference must be at most {:.0e}\n",
                          config_name(row.setting), row.max_loss_difference);
    }
  }
  return text;
}

std::string workload_table(const std::vector<Row>& rows, std::size_t width) {
  const std::string head =
      fmt::format("{:<{}}  {:>7} {:>7} {:>7} {:>7} {:>6}  {:>10} {:>9} {:>10}\n", "Config", width,
                  "Avg ms", "Median", "Min", "Max", "CV %", "Samples/s", "Peak MiB", "Loss diff");
  std::string text = workload_name(rows.front().setting) + "\n" + head;
  text += std::string(head.size() - 1, '-') + "\n";
  for (const Row& row : rows) text += row_text(row, width);
  text += notes(rows);
  for (const std::string& line : speed_lines(rows)) text += line + "\n";
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
