// SPDX-License-Identifier: Apache-2.0
#include "data/target.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/parse.h"
#include "trainer/core/utf8.h"
#include "trainer/data/scaling.h"
#include "trainer/data/task.h"

#include "data/error.h"
#include "data/labels.h"
#include "data/offset.h"

namespace trainer::data {
namespace {

constexpr size_t kMaxAutoClasses = 1000;  // more different texts are names, not classes

/// What the target column holds, before it is known what it means.
struct TargetScan {
  bool all_numbers = true;
  bool all_whole = true;
  double min = std::numeric_limits<double>::infinity();
  double max = -min;
  std::unordered_map<std::string_view, size_t> first_rows;  // of each label
};

/// Stops to collect labels when there are more than `max_labels`, so that ten million different
/// numbers do not become ten million labels first.
TargetScan scan_target(const Table& table, size_t max_labels) {
  TargetScan scan;
  for (size_t row = 0; row < table.targets.size(); ++row) {
    const std::string& text = table.targets[row];
    if (scan.all_whole) {
      const std::optional<double> value = parse_double(text);
      scan.all_numbers = value.has_value();
      scan.all_whole = value && std::isfinite(*value) && std::trunc(*value) == *value;
      scan.min = std::min(scan.min, value.value_or(scan.min));
      scan.max = std::max(scan.max, value.value_or(scan.max));
    } else if (scan.all_numbers) {
      scan.all_numbers = parse_double(text).has_value();
    }
    if (scan.first_rows.size() <= max_labels) scan.first_rows.emplace(text, row);
  }
  return scan;
}

TaskChoice decide_task(const TargetScan& scan, size_t num_rows) {
  return infer_task({.all_numbers = scan.all_numbers,
                     .all_whole = scan.all_whole,
                     .num_distinct = static_cast<int64_t>(scan.first_rows.size()),
                     .min = scan.min,
                     .max = scan.max,
                     .num_rows = static_cast<int64_t>(num_rows)});
}

void require_plausible_classes(const Table& table, const TargetScan& scan, config::Task wanted) {
  const size_t num_labels = scan.first_rows.size();
  if (num_labels == 1) {
    throw target_error(
        table, table.file,
        fmt::format("every row has the label {}; a constant target cannot be learned",
                    in_quotes(table.targets.front())));
  }
  if (num_labels <= kMaxAutoClasses) return;
  const std::string limit = with_thousands(kMaxAutoClasses);
  if (wanted == config::Task::kAuto) {
    throw target_error(
        table, table.file,
        fmt::format("more than {} distinct labels, the first is {}; choose another data.target, or "
                    "set data.task: classification if all of them are classes",
                    limit, in_quotes(table.targets.front())));
  }
  if (scan.all_numbers && !scan.all_whole) {
    throw target_error(
        table, table.file,
        fmt::format(
            "more than {} distinct non-integer numbers are not classes; set data.task: regression",
            limit));
  }
}

std::vector<std::string> labels_by_value(const Table& table, const TargetScan& scan) {
  struct Label {
    double value;
    size_t first_row;
  };
  std::vector<Label> found;
  found.reserve(scan.first_rows.size());
  for (const auto& [text, row] : scan.first_rows) found.push_back({*parse_double(text), row});
  std::sort(found.begin(), found.end(), [](const Label& a, const Label& b) {
    return a.value < b.value || (a.value == b.value && a.first_row < b.first_row);
  });
  std::vector<std::string> labels;
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string& text = table.targets[found[i].first_row];
    if (i > 0 && found[i].value == found[i - 1].value) {
      throw target_error(
          table, row_location(table, found[i].first_row),
          fmt::format("{} is the same number as the label {} above; use one spelling",
                      in_quotes(text), in_quotes(labels.back())));
    }
    labels.push_back(text);
  }
  return labels;
}

void require_good_labels(const Table& table, const TargetScan& scan) {
  constexpr size_t kMaxBytes = 1000;
  for (const auto& [text, row] : scan.first_rows) {
    if (text.size() > kMaxBytes) {
      throw target_error(
          table, row_location(table, row),
          fmt::format(
              "expected a label of at most {} bytes, got {} bytes: {}; check for an unclosed quote",
              with_thousands(kMaxBytes), with_thousands(static_cast<int64_t>(text.size())),
              in_quotes(text)));
    }
    if (is_utf8(text)) continue;
    throw target_error(
        table, row_location(table, row),
        fmt::format("expected a label in UTF-8, got {}; save the file as UTF-8", in_quotes(text)));
  }
}

std::vector<std::string> labels_by_bytes(const TargetScan& scan) {
  std::vector<std::string> labels;
  labels.reserve(scan.first_rows.size());
  for (const auto& [text, row] : scan.first_rows) labels.emplace_back(text);
  std::sort(labels.begin(), labels.end());
  return labels;
}

void require_different_values(const Table& table, const std::vector<double>& values) {
  const size_t num_targets = table.target_names.size();
  for (size_t target = 0; target < num_targets; ++target) {
    size_t i = target;
    while (i < values.size() && values[i] == values[target]) i += num_targets;
    if (i < values.size()) continue;
    throw target_error(
        table, table.file,
        fmt::format("every row has the value {}; a constant target cannot be learned",
                    table.targets[target]),
        target);
  }
}

/// `[num_rows, num_targets]`
std::vector<double> target_numbers(const Table& table) {
  const size_t num_targets = table.target_names.size();
  std::vector<double> values;
  values.reserve(table.targets.size());
  for (const std::string& text : table.targets) {
    const std::optional<double> value = parse_double(text);
    if (!value || !std::isfinite(static_cast<float>(*value))) {
      throw target_error(
          table, row_location(table, values.size() / num_targets),
          value ? fmt::format("expected a finite number, got {}", in_quotes(text))
                : fmt::format("expected a number, got {}; correct it or set data.task: "
                              "classification",
                              in_quotes(text)),
          values.size() % num_targets);
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<double> choose_offsets(const Table& table, const std::vector<double>& numbers) {
  const size_t num_targets = table.target_names.size();
  std::vector<double> offsets;
  for (size_t target = 0; target < num_targets; ++target) {
    std::vector<double> values;
    values.reserve(numbers.size() / num_targets);
    for (size_t i = target; i < numbers.size(); i += num_targets) values.push_back(numbers[i]);
    offsets.push_back(choose_offset(std::move(values)));
  }
  return offsets_or_none(std::move(offsets));
}

std::vector<float> without_offsets(const std::vector<double>& numbers,
                                   const std::vector<double>& offsets) {
  std::vector<float> values;
  values.reserve(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double offset = offsets.empty() ? 0 : offsets[i % offsets.size()];
    values.push_back(static_cast<float>(numbers[i] - offset));
  }
  return values;
}

void require_one_target(const Table& table) {
  if (table.target_names.size() == 1) return;
  throw data_error(table.file, fmt::format("{} targets, but only regression supports several; keep "
                                           "one, or set data.task: regression",
                                           table.target_names.size()));
}

}  // namespace

std::string row_location(const Table& table, size_t row) {
  const std::string file = table.file.empty() ? "data" : table.file;
  if (table.lines.empty()) return fmt::format("{}: item {}", file, row + 1);
  return table.has_lines ? fmt::format("{}:{}", file, table.lines[row])
                         : fmt::format("{}: row {}", file, table.lines[row]);
}

Error target_error(const Table& table, const std::string& location, const std::string& problem,
                   size_t target) {
  return data_error(location,
                    fmt::format("column {}: {}", in_quotes(table.target_names[target]), problem));
}

Target infer_target(const Table& table, config::Task wanted, const std::vector<double>* offsets) {
  Target target;
  target.task = wanted;
  TargetScan scan;
  if (wanted == config::Task::kAuto && table.target_names.size() > 1) {
    target.task = config::Task::kRegression;
    target.task_reason = "because there are several targets";
  } else if (wanted != config::Task::kRegression) {
    require_one_target(table);
    const bool all = wanted == config::Task::kClassification;
    scan = scan_target(table, all ? std::numeric_limits<size_t>::max() : kMaxAutoClasses);
    if (wanted == config::Task::kAuto) {
      TaskChoice choice = decide_task(scan, table.targets.size());
      target.task = choice.task;
      target.task_reason = std::move(choice.reason);
    }
  }
  if (target.task == config::Task::kRegression) {
    const std::vector<double> numbers = target_numbers(table);
    require_different_values(table, numbers);
    target.offsets = offsets != nullptr ? *offsets : choose_offsets(table, numbers);
    target.values = without_offsets(numbers, target.offsets);
    return target;
  }
  require_plausible_classes(table, scan, wanted);
  require_good_labels(table, scan);
  target.labels = scan.all_numbers ? labels_by_value(table, scan) : labels_by_bytes(scan);
  target.classes = encode_labels(table, target.labels, table.file);
  return target;
}

std::vector<float> target_values(const Table& table, const std::vector<double>& offsets) {
  return without_offsets(target_numbers(table), offsets);
}

}  // namespace trainer::data
