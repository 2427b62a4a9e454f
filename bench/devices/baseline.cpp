// SPDX-License-Identifier: Apache-2.0
#include "devices/baseline.h"

#include <algorithm>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"

#include "devices/table.h"

namespace trainer::bench {
namespace {

// What times depend on besides the code.
constexpr const char* kConditions[] = {
    "/system/host/cpu",       "/system/host/logical_cpus", "/system/build/build_type",
    "/system/build/compiler", "/system/build/libtorch",    "/system/blas",
    "/options/threads",       "/options/warmup_steps",     "/options/steps"};

std::string value_at(const Json& context, const char* pointer) {
  const Json::json_pointer json_path(pointer);
  const Json value = context.contains(json_path) ? context.at(json_path) : Json();
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> other_conditions(const Json& baseline, const Json& now) {
  std::vector<std::string> differences;
  for (const char* pointer : kConditions) {
    const std::string before = value_at(baseline, pointer);
    const std::string after = value_at(now, pointer);
    if (before != after) {
      differences.push_back(fmt::format("{}: {} -> {}", pointer + 1, before, after));
    }
  }
  const std::string before = accelerators_text(baseline);
  const std::string after = accelerators_text(now);
  if (before != after) {
    differences.push_back(fmt::format("system/accelerators: {} -> {}", before, after));
  }
  return differences;
}

const Row* find_row(const std::vector<Row>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const Row& row) { return row_name(row.setting) == name; });
  return found == rows.end() ? nullptr : &*found;
}

Change classify(const Row& row_before, const Row& row_now, const Limits& limits) {
  if (was_disturbed(row_before, limits.max_lost) || was_disturbed(row_now, limits.max_lost)) {
    return Change::kNotCompared;
  }
  const Summary& baseline = row_before.step_ms;
  const Summary& now = row_now.step_ms;
  const double bound = 1 + limits.max_slowdown / 100;
  const double ratio = now.median / baseline.median;
  if (ratio > bound) {
    return now.lower_quartile > baseline.upper_quartile ? Change::kSlower : Change::kWithinNoise;
  }
  if (ratio < 1 / bound) {
    return now.upper_quartile < baseline.lower_quartile ? Change::kFaster : Change::kWithinNoise;
  }
  return Change::kSame;
}

const char* change_text(Change change) {
  switch (change) {
    case Change::kSlower:
      return "SLOWER";
    case Change::kFaster:
      return "faster";
    case Change::kWithinNoise:
      return "within noise";
    case Change::kNotCompared:
      return "not compared";
    case Change::kSame:
      break;
  }
  return "same";
}

std::size_t name_width(const auto& rows) {
  std::size_t width = 3;
  for (const auto& row : rows) width = std::max(width, row.name.size());
  return width;
}

}  // namespace

Comparison compare(const Results& baseline, const Results& now, const Limits& limits) {
  Comparison comparison;
  comparison.other_conditions = other_conditions(baseline.context, now.context);
  for (const Row& row : now.rows) {
    const std::string name = row_name(row.setting);
    const Row* before = find_row(baseline.rows, name);
    if (before == nullptr) {
      comparison.only_now.push_back(name);
      continue;
    }
    const double ratio = row.step_ms.median / before->step_ms.median;
    comparison.changes.push_back({name, before->step_ms.median, row.step_ms.median,
                                  100 * (ratio - 1), classify(*before, row, limits)});
  }
  for (const Row& row : baseline.rows) {
    const std::string name = row_name(row.setting);
    if (find_row(now.rows, name) == nullptr) comparison.only_baseline.push_back(name);
  }
  if (comparison.changes.empty()) {
    throw Error(ErrorKind::kData,
                fmt::format("the baseline has {} rows, but none of the {} rows measured now; "
                            "create a new baseline with the same options",
                            baseline.rows.size(), now.rows.size()));
  }
  return comparison;
}

int64_t num_with(const Comparison& comparison, Change change) {
  return std::count_if(comparison.changes.begin(), comparison.changes.end(),
                       [=](const RowChange& row) { return row.change == change; });
}

const RowChange* worst(const Comparison& comparison) {
  const RowChange* worst = nullptr;
  for (const RowChange& row : comparison.changes) {
    if (row.change == Change::kNotCompared) continue;
    if (worst == nullptr || row.percent > worst->percent) worst = &row;
  }
  return worst;
}

std::string comparison_text(const Comparison& comparison, double max_slowdown_percent) {
  const std::size_t width = name_width(comparison.changes);
  std::string text = "Comparison with the baseline (medians)\n";
  const std::string head =
      fmt::format("{:<{}}  {:>11} {:>8} {:>8}\n", "Row", width, "Baseline ms", "Now ms", "Change");
  text += head + std::string(head.size() - 1, '-') + "\n";
  for (const RowChange& row : comparison.changes) {
    text += fmt::format("{:<{}}  {:>11} {:>8} {:>+6.1f} %  {}\n", row.name, width,
                        milliseconds_text(row.baseline_ms), milliseconds_text(row.now_ms),
                        row.percent, change_text(row.change));
  }
  for (const std::string& name : comparison.only_now) text += name + ": not in the baseline\n";
  for (const std::string& name : comparison.only_baseline) {
    text += name + ": only in the baseline\n";
  }
  for (const std::string& condition : comparison.other_conditions) {
    text += "Differing conditions: " + condition + "\n";
  }
  const int64_t slower = num_with(comparison, Change::kSlower);
  const int64_t unknown = num_with(comparison, Change::kNotCompared);
  const int64_t num_rows = std::ssize(comparison.changes);
  if (slower > 0) {
    text += fmt::format("{} of {} rows are slower by more than {} % and outside the noise.\n",
                        slower, num_rows, max_slowdown_percent);
  } else if (unknown < num_rows) {
    text += fmt::format("No row{} is slower by more than {} % and outside the noise.\n",
                        unknown > 0 ? " of those compared" : "", max_slowdown_percent);
  }
  if (unknown > 0) {
    text += fmt::format(
        "{} of {} rows were not compared: other programs used the CPU; measure "
        "again on a quiet machine.\n",
        unknown, num_rows);
  }
  return text;
}

std::vector<RowConsistency> consistency(std::span<const Row> rows) {
  std::vector<RowConsistency> result;
  for (const Row& row : rows) {
    const auto& medians = row.repetition_medians;
    const auto [lowest, highest] = std::minmax_element(medians.begin(), medians.end());
    result.push_back({row_name(row.setting), static_cast<int64_t>(medians.size()), *lowest,
                      *highest, 100 * variation(medians)});
  }
  return result;
}

int64_t num_inconsistent(std::span<const RowConsistency> rows, double max_percent) {
  return std::count_if(rows.begin(), rows.end(),
                       [=](const RowConsistency& row) { return row.percent > max_percent; });
}

std::string consistency_text(std::span<const RowConsistency> rows, double max_percent) {
  if (rows.empty()) return "";
  const std::size_t width = name_width(rows);
  std::string text =
      fmt::format("Consistency, medians of {} repetitions\n", rows.front().num_repetitions);
  const std::string head =
      fmt::format("{:<{}}  {:>10} {:>10} {:>6}\n", "Row", width, "Lowest ms", "Highest ms", "CV %");
  text += head + std::string(head.size() - 1, '-') + "\n";
  for (const RowConsistency& row : rows) {
    text += fmt::format("{:<{}}  {:>10} {:>10} {:>6.1f}  {}\n", row.name, width,
                        milliseconds_text(row.min_ms), milliseconds_text(row.max_ms), row.percent,
                        row.percent > max_percent ? "VARIES" : "steady");
  }
  const int64_t varying = num_inconsistent(rows, max_percent);
  text += varying == 0 ? fmt::format("No row varies by more than {} %.\n", max_percent)
                       : fmt::format("{} of {} rows vary by more than {} %.\n", varying,
                                     rows.size(), max_percent);
  return text;
}

}  // namespace trainer::bench
