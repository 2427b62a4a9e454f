// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/target.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/suggest.h"
#include "trainer/base/text/utf8.h"
#include "trainer/table/schema/scaling.h"
#include "trainer/table/schema/value_index.h"
#include "trainer/table/source/exact_number.h"

#include "table/error.h"
#include "table/schema/fit_schema.h"
#include "table/schema/target.h"
#include "table/source/number_text.h"
#include "table/source/table_sample.h"

namespace trainer::data {
namespace {

/// What the target column holds, before it is known what it means.
struct TargetScan {
  bool all_numbers = true;
  bool all_whole = true;
  double min = std::numeric_limits<double>::infinity();
  double max = -min;
  size_t num_numbers = 0;           // cells
  size_t num_labels = 0;            // at least
  std::vector<size_t> first_rows;   // of each text, ascending; more labels than these: some
  std::vector<std::string> labels;  // one text of each value, in order
};

TargetScan scan_target(const TargetCells& cells) {
  TargetScan scan;
  const auto add = [&](double value) {
    scan.all_numbers = scan.all_numbers && !std::isnan(value);
    scan.all_whole = scan.all_whole && std::isfinite(value) && std::trunc(value) == value;
    scan.min = value < scan.min ? value : scan.min;
    scan.max = value > scan.max ? value : scan.max;
  };
  if (!cells.has_labels()) {
    for (size_t row = 0; row < cells.size(); ++row) {
      add(cells.number(row));
      scan.num_numbers += std::isnan(cells.number(row)) ? 0 : 1;
    }
    scan.num_labels = cells.labels().size();
    return scan;
  }
  std::vector<char> is_known(cells.labels().size());
  std::vector<std::string> texts;
  for (size_t row = 0; row < cells.size(); ++row) {
    scan.num_numbers += std::isnan(cells.number(row)) ? 0 : 1;
    char& known = is_known[cells.label(row)];
    if (known != 0) continue;
    known = 1;
    scan.first_rows.push_back(row);
    texts.push_back(cells.text(row));
    add(cells.number(row));  // that of all cells with this label
  }
  scan.labels = distinct_values(texts);
  sort_values(scan.labels);
  scan.num_labels = scan.labels.size();
  return scan;
}

TaskChoice decide_task(const TargetScan& scan, size_t num_rows) {
  return infer_task({.all_numbers = scan.all_numbers,
                     .all_whole = scan.all_whole,
                     .num_distinct = static_cast<int64_t>(scan.num_labels),
                     .min = scan.min,
                     .max = scan.max,
                     .num_rows = static_cast<int64_t>(num_rows)});
}

void require_plausible_classes(const Table& table, const TargetScan& scan, config::Task wanted) {
  if (scan.num_labels == 1) {
    throw target_error(
        table, table.file,
        fmt::format("every row has the label {}; a constant target cannot be learned",
                    in_quotes(table.targets.text(0))));
  }
  if (scan.num_labels <= TargetCells::kMaxLabels) return;
  const std::string limit = with_thousands(TargetCells::kMaxLabels);
  if (wanted == config::Task::kAuto) {
    throw target_error(
        table, table.file,
        fmt::format("more than {} distinct labels, the first is {}; choose another data.target, or "
                    "set data.task: classification if all of them are classes",
                    limit, in_quotes(table.targets.text(0))));
  }
  if (scan.all_numbers && !scan.all_whole) {
    throw target_error(
        table, table.file,
        fmt::format(
            "more than {} distinct non-integer numbers are not classes; set data.task: regression",
            limit));
  }
}

// 7 and 07 are two values, but as classes they would be a number that is written in two ways.
void require_different_numbers(const Table& table, const TargetScan& scan) {
  for (size_t i = 1; i < scan.labels.size(); ++i) {
    const std::string& label = scan.labels[i];
    const std::string& before = scan.labels[i - 1];
    if (number_key(label) != number_key(before)) continue;
    const auto first_row = [&](const std::string& text) {
      return *std::find_if(scan.first_rows.begin(), scan.first_rows.end(),
                           [&](size_t row) { return table.targets.text(row) == text; });
    };
    const bool is_above = first_row(before) < first_row(label);
    throw target_error(
        table, row_location(table, std::max(first_row(before), first_row(label))),
        fmt::format("{} is the same number as the label {} above; use one spelling",
                    in_quotes(is_above ? label : before), in_quotes(is_above ? before : label)));
  }
}

void require_good_labels(const Table& table, const TargetScan& scan) {
  constexpr size_t kMaxBytes = 1000;
  for (const size_t row : scan.first_rows) {
    const std::string text = table.targets.text(row);
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

void require_different_values(const Table& table) {
  const TargetCells& cells = table.targets;
  const size_t num_targets = table.target_names.size();
  for (size_t target = 0; target < num_targets; ++target) {
    size_t i = target;
    while (i < cells.size() && cells.number(i) == cells.number(target)) i += num_targets;
    if (i < cells.size()) continue;
    throw target_error(
        table, table.file,
        fmt::format("every row has the value {}; a constant target cannot be learned",
                    cells.text(target)),
        target);
  }
}

void require_finite(const Table& table) {
  const TargetCells& cells = table.targets;
  const size_t num_targets = table.target_names.size();
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    const double value = cells.number(cell);
    if (std::isfinite(static_cast<float>(value))) continue;
    const std::string text = in_quotes(cells.text(cell));
    throw target_error(
        table, row_location(table, cell / num_targets),
        std::isnan(value)
            ? fmt::format("expected a number, got {}; correct it or set data.task: classification",
                          text)
            : fmt::format("expected a finite number, got {}", text),
        cell % num_targets);
  }
}

// A text among numbers would make a class of each of them, as for columns of features.
void require_numbers_if_most_are(const Table& table, const TargetScan& scan) {
  if (!scan.all_numbers && 2 * scan.num_numbers > table.targets.size()) require_finite(table);
}

// "69%" or "1,234".
bool is_number_otherwise(const std::string& label) {
  const std::optional<NumberWithUnit> parts = split_unit(label);
  const std::string& number = parts ? parts->number : label;
  return (parts && parse_double(number)) || !rewritten_number(number, {}).empty();
}

// Else each would silently be a class.
void require_plain_numbers(const Table& table, const TargetScan& scan) {
  const auto num_such = std::count_if(scan.labels.begin(), scan.labels.end(), is_number_otherwise);
  if (scan.all_numbers || 2 * static_cast<size_t>(num_such) <= scan.labels.size()) return;
  const auto row = std::find_if(scan.first_rows.begin(), scan.first_rows.end(), [&](size_t at) {
    return is_number_otherwise(table.targets.text(at));
  });
  throw target_error(table, row_location(table, *row),
                     fmt::format("expected a number, got {}; write numbers without units and marks "
                                 "between thousands, or set data.task: classification",
                                 in_quotes(table.targets.text(*row))));
}

std::vector<std::string> describe_labels(const Table& table, const TargetScan& scan) {
  constexpr size_t kFewLabels = 10;
  std::vector<std::string> lines;
  const std::string name = in_quotes(table.target_names.front());
  const size_t num_rows = table.targets.size();
  if (!scan.all_numbers && scan.num_labels > kFewLabels && 2 * scan.num_labels > num_rows) {
    lines.push_back(fmt::format(
        "target {}: almost every label is different ({} distinct in {} rows), the first is {}; if "
        "they are no classes, write them as numbers or choose another data.target",
        name, with_thousands(static_cast<int64_t>(scan.num_labels)),
        with_thousands(static_cast<int64_t>(num_rows)), in_quotes(table.targets.text(0))));
  }
  if (const std::string pairs = joined(similar_texts(scan.labels)); !pairs.empty()) {
    lines.push_back(
        fmt::format("target {}: labels that differ only in capitals or in how Unicode "
                    "writes their letters are different classes: {}",
                    name, pairs));
  }
  return lines;
}

std::vector<double> choose_offsets(const Table& table) {
  const TargetCells& cells = table.targets;
  const size_t num_targets = table.target_names.size();
  std::vector<double> offsets;
  for (size_t target = 0; target < num_targets; ++target) {
    Array<double> values;
    values.reserve(cells.size() / num_targets);
    for (size_t i = target; i < cells.size(); i += num_targets) values.push_back(cells.number(i));
    offsets.push_back(choose_offset(std::move(values)));
  }
  return offsets_or_none(std::move(offsets));
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
    scan = scan_target(table.targets);
    if (wanted == config::Task::kAuto) {
      require_numbers_if_most_are(table, scan);
      require_plain_numbers(table, scan);
      TaskChoice choice = decide_task(scan, table.targets.size());
      target.task = choice.task;
      target.task_reason = std::move(choice.reason);
    }
  }
  if (target.task == config::Task::kRegression) {
    target.numbers = target_numbers(table);
    require_different_values(table);
    target.offsets = offsets != nullptr ? *offsets : choose_offsets(table);
    target.values = without_offsets(target.numbers, target.offsets);
    return target;
  }
  require_plausible_classes(table, scan, wanted);
  require_good_labels(table, scan);
  if (scan.all_numbers) require_different_numbers(table, scan);
  target.warnings = describe_labels(table, scan);
  target.labels = std::move(scan.labels);
  target.classes = encode_labels(table, target.labels, table.file);
  return target;
}

void choose_positive(const Table& table, const std::string& label, Target& target) {
  if (label.empty()) return;
  const auto refuse = [&](const std::string& problem) {
    throw data_error("data.positive",
                     fmt::format("column {}: {}", in_quotes(table.target_names.front()), problem));
  };
  if (target.labels.size() != 2) {
    refuse(fmt::format(
        "expected a target of two classes, got {}; remove data.positive",
        target.labels.empty() ? "numbers" : counted(std::ssize(target.labels), "class")));
  }
  const std::optional<size_t> index = ValueIndex(target.labels).find(label);
  if (!index) {
    refuse(fmt::format("expected {} or {}, got {}", in_quotes(target.labels[0]),
                       in_quotes(target.labels[1]), in_quotes(label)));
  }
  if (*index == 1) return;
  std::swap(target.labels[0], target.labels[1]);
  for (int64_t& one : target.classes) one = 1 - one;
}

Array<double> target_numbers(const Table& table) {
  require_finite(table);
  Array<double> numbers;
  numbers.reserve(table.targets.size());
  for (size_t i = 0; i < table.targets.size(); ++i) numbers.push_back(table.targets.number(i));
  return numbers;
}

Array<float> without_offsets(const Array<double>& numbers, const std::vector<double>& offsets) {
  Array<float> values;
  values.reserve(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double offset = offsets.empty() ? 0 : offsets[i % offsets.size()];
    values.push_back(static_cast<float>(numbers[i] - offset));
  }
  return values;
}

namespace {

constexpr size_t kMinRowsOfCopies = 20;

// A column that lacks many cells tells little.
bool are_enough(size_t num_present, size_t num_rows) { return 10 * num_present >= 9 * num_rows; }

/// One column of cells; NaN is missing.
struct Numbers {
  std::span<const float> values;
  size_t first = 0;
  size_t width = 1;

  size_t size() const { return values.size() / width; }
  float at(size_t row) const { return values[row * width + first]; }
};

// Ends at the first row that differs, which nearly always is among the first ones.
bool has_value_for_each_class(const Numbers& cells, std::span<const int64_t> classes,
                              size_t num_classes) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values(num_classes, kNone);
  size_t num_present = 0;
  for (size_t row = 0; row < classes.size(); ++row) {
    const float cell = cells.at(row);
    if (std::isnan(cell)) continue;
    ++num_present;
    float& value = values[static_cast<size_t>(classes[row])];
    if (std::isnan(value)) value = cell;
    if (value != cell) return false;
  }
  std::erase_if(values, [](float value) { return std::isnan(value); });
  std::sort(values.begin(), values.end());
  const bool are_different = std::adjacent_find(values.begin(), values.end()) == values.end();
  return are_different && values.size() > 1 && are_enough(num_present, classes.size());
}

// By the line through the rows of the smallest and the largest cell.
bool is_linear_copy(const Numbers& cells, const Numbers& targets, size_t num_rows) {
  constexpr double kTolerance = 1e-3;
  size_t low = num_rows;
  size_t high = num_rows;
  size_t num_present = 0;
  for (size_t row = 0; row < num_rows; ++row) {
    if (std::isnan(cells.at(row))) continue;
    ++num_present;
    if (low == num_rows || cells.at(row) < cells.at(low)) low = row;
    if (high == num_rows || cells.at(row) > cells.at(high)) high = row;
  }
  if (num_present < 3 || !are_enough(num_present, num_rows)) return false;
  const double width = static_cast<double>(cells.at(high)) - cells.at(low);
  const double height = static_cast<double>(targets.at(high)) - targets.at(low);
  if (width == 0 || height == 0) return false;
  for (size_t row = 0; row < num_rows; ++row) {
    if (std::isnan(cells.at(row))) continue;
    const double fraction = (static_cast<double>(cells.at(row)) - cells.at(low)) / width;
    const double expected = targets.at(low) + fraction * height;
    if (!(std::abs(targets.at(row) - expected) <= kTolerance * std::abs(height))) return false;
  }
  return true;
}

bool is_copy(const Numbers& cells, bool are_numbers, const Target& target, size_t num_rows) {
  if (target.task == config::Task::kClassification) {
    return has_value_for_each_class(cells, target.classes, target.labels.size());
  }
  const size_t num_targets = target.values.size() / num_rows;
  for (size_t i = 0; are_numbers && i < num_targets; ++i) {
    const Numbers targets{.values = target.values, .first = i, .width = num_targets};
    // Most columns show in their first rows that they are none.
    if (is_linear_copy(cells, targets, kMinRowsOfCopies) &&
        is_linear_copy(cells, targets, num_rows)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> find_target_copies(const Table& table, const Target& target) {
  const auto num_rows = static_cast<size_t>(table.features.num_rows);
  if (num_rows < kMinRowsOfCopies) return {};
  const auto width = static_cast<size_t>(table.features.num_columns);
  const auto& values = std::get<Array<float>>(table.features.values);
  std::vector<std::string> names;
  for (size_t column_index = 0, i = 0; i < table.columns.size() && column_index < width; ++i) {
    const Column& column = table.columns[i];
    if (table.feature_names[column_index] != column.name) continue;  // no cells
    const Numbers cells{.values = values, .first = column_index++, .width = width};
    if (is_feature(column) &&
        is_copy(cells, column.kind == ColumnKind::kNumeric, target, num_rows)) {
      names.push_back(in_quotes(column.name));
    }
  }
  if (names.empty()) return {};
  return {
      fmt::format("copies of the target (leakage): {}; use data.ignore to drop columns that are "
                  "not known before the target",
                  joined_some(names))};
}

Array<int64_t> encode_labels(const Table& table, std::span<const std::string> labels,
                             const std::string& origin) {
  constexpr int64_t kNone = -1;
  const ValueIndex index(labels);
  const auto class_of = [&](const std::string& text) {
    const std::optional<size_t> found = index.find(text);
    return found ? static_cast<int64_t>(*found) : kNone;
  };
  const TargetCells& cells = table.targets;
  std::vector<int64_t> classes_of_labels;
  for (const std::string& text : cells.labels()) classes_of_labels.push_back(class_of(text));
  Array<int64_t> classes;
  classes.reserve(cells.size());
  for (size_t row = 0; row < cells.size(); ++row) {
    const int64_t found =
        cells.has_labels() ? classes_of_labels[cells.label(row)] : class_of(cells.text(row));
    if (found == kNone) {
      throw target_error(table, row_location(table, row),
                         fmt::format("the label {} does not occur in the training data {}",
                                     in_quotes(cells.text(row)), origin));
    }
    classes.push_back(found);
  }
  return classes;
}

void require_labels_for_folds(const Table& table, const Target& target, int64_t folds) {
  std::vector<int64_t> num_rows(target.labels.size());
  for (const int64_t label : target.classes) ++num_rows[static_cast<size_t>(label)];
  for (size_t i = 0; i < num_rows.size(); ++i) {
    if (num_rows[i] >= folds) continue;
    throw target_error(
        table, table.file,
        fmt::format("the label {} has {}, fewer than the {} folds, so some fold would lack it; use "
                    "fewer folds or drop its rows",
                    in_quotes(target.labels[i]), counted(num_rows[i], "row"), folds));
  }
}

void require_labels_in_training(const Table& table, const Target& target, const SplitIndices& split,
                                const config::DataConfig& data) {
  if (target.labels.empty()) return;  // a regression
  std::vector<bool> is_in_training(target.labels.size());
  Array<int64_t> merged;
  for (const int64_t row : rows_to_fit(split, data, merged)) {
    is_in_training[static_cast<size_t>(target.classes[static_cast<size_t>(row)])] = true;
  }
  Array<int64_t> others = split.validation;
  others.append(split.test.begin(), split.test.end());
  std::sort(others.begin(), others.end());
  for (const int64_t other : others) {
    const auto row = static_cast<size_t>(other);
    if (is_in_training[static_cast<size_t>(target.classes[row])]) continue;
    throw target_error(table, row_location(table, row),
                       fmt::format("the label {} does not occur in the training split; split the "
                                   "rows differently or remove rows with this label",
                                   in_quotes(table.targets.text(row))));
  }
}

void require_other_names(const Table& table, const Target& target) {
  std::unordered_set<std::string> taken = {"prediction"};
  if (table.target_names.size() > 1) {
    taken.clear();
    for (const std::string& name : table.target_names) taken.insert("prediction_" + name);
  }
  for (const std::string& label : target.labels) taken.insert("p_" + label);
  for (const Column& column : table.columns) {
    if (column.kind != ColumnKind::kId || !taken.contains(column.name)) continue;
    throw data_error(table.file,
                     fmt::format("data.id: column {} has the same name as a column of the "
                                 "predictions; rename it, or list it in data.ignore",
                                 in_quotes(column.name)));
  }
}

namespace {

constexpr int64_t kMaxKinds = 20;        // of whole numbers; more are an amount, unless they are
constexpr int64_t kMaxNumbered = 100;    // numbered one by one
constexpr int64_t kRowsPerNumbered = 5;  // on average, for this to be no accident

bool are_numbered(const TargetFacts& facts) {
  return facts.num_distinct <= kMaxNumbered && (facts.min == 0 || facts.min == 1) &&
         facts.max - facts.min + 1 == static_cast<double>(facts.num_distinct) &&
         facts.num_rows >= kRowsPerNumbered * facts.num_distinct;
}

}  // namespace

TaskChoice infer_task(const TargetFacts& facts) {
  using config::Task;
  if (!facts.all_numbers) return {Task::kClassification, "because it is text", ""};
  if (!facts.all_whole) return {Task::kRegression, "because it has non-integer values", ""};
  const std::string numbers =
      fmt::format("because it has {} distinct integer values", with_thousands(facts.num_distinct));
  if (facts.num_distinct <= kMaxKinds || are_numbered(facts)) {
    return {Task::kClassification, numbers,
            facts.num_distinct > 2 ? "set task: regression if they are quantities" : ""};
  }
  return {Task::kRegression, numbers, "set task: classification if they are classes"};
}

}  // namespace trainer::data
