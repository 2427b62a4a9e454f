// SPDX-License-Identifier: Apache-2.0
#include "table/source/table_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/utf8.h"
#include "trainer/table/source/exact_number.h"

#include "table/source/number_text.h"
#include "table/source/table_header.h"
#include "table/source/time_text.h"

namespace trainer::data {
namespace {

constexpr size_t kMaxCategoryBytes = 1000;
constexpr size_t kMaxCategories = 10'000;  // with data.max_categories: auto
constexpr int64_t kRowsPerCategory = 5;    // at least, on average, with auto
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr std::string_view kFillIn = "fill it in or remove the row";
constexpr std::string_view kFillInOrDrop =
    "fill it in, remove the row, or drop all such rows with data.drop_rows_without_target: true";
constexpr std::string_view kFillInOrKeep =
    "if it is a class, set data.missing to a list without it; else fill it in, remove the row, or "
    "drop all such rows with data.drop_rows_without_target: true";

std::optional<Split> parse_split(std::string_view field) {
  const std::string name = lower_case(field);
  if (name == "train" || name == "training") return Split::kTrain;
  if (name == "validation" || name == "val" || name == "valid") return Split::kValidation;
  if (name == "test") return Split::kTest;
  return std::nullopt;
}

// Dates as a column may have them.
std::string_view examples(config::DateOrder order) {
  switch (order) {
    case config::DateOrder::kDayFirst:
      return "31.12.2026 or 31/12/2026 12:30";
    case config::DateOrder::kMonthFirst:
      return "12/31/2026 or 12/31/2026 12:30";
    case config::DateOrder::kAuto:
    case config::DateOrder::kYearFirst:
      break;
  }
  return "2026-03-01 or 2026-03-01T12:30:00";
}

std::string date_problem(std::string_view field, const HeaderColumn& column) {
  return fmt::format(
      "expected a date such as {}, got {}; {}", examples(column.date_order), in_quotes(field),
      column.is_trained ? "correct it: the column had such dates in the training data"
                        : "correct it, add it to data.missing, or set data.dates: off");
}

std::string length_problem(std::string_view field) {
  return fmt::format(
      "expected a category of at most {} bytes, got {} bytes: {}; check for an "
      "unclosed quote, or drop the column with data.ignore if it is free text",
      with_thousands(kMaxCategoryBytes), with_thousands(static_cast<int64_t>(field.size())),
      in_quotes(field));
}

// One group in every spelling, that of a boolean too.
std::string group_key(std::string_view field, const CsvFormat& format) {
  std::string lower = lower_case(field);
  if (lower == "true" || lower == "false") return lower;
  if (!number_in(field, format)) return value_key(field);
  return value_key(
      plain_number(field, format.decimal, format.thousands).value_or(std::string(field)));
}

}  // namespace

TableBuilder::TableBuilder(TableHeader& header, const CsvFormat& format, int64_t max_categories,
                           Table& table)
    : header_(header),
      format_(format),
      max_categories_(static_cast<size_t>(max_categories)),
      table_(table),
      interners_(header.columns.size()),
      num_missing_(header.columns.size()) {}

float TableBuilder::odd_number(size_t column, double value) {
  if (std::isnan(value) || format_.missing.contains(value)) return missing_number(column);
  throw CellError(column, fmt::format("expected a finite number{}, got {}",
                                      std::isfinite(value) ? " of at most 3.4e+38" : "",
                                      in_quotes(fmt::format("{}", value))));
}

bool TableBuilder::numbers(size_t column, std::span<const double> values, float* cells,
                           size_t width) const {
  if (format_.missing.has_numbers()) return false;
  const double offset = header_.offsets[column];
  bool are_finite = true;
  for (const double value : values) {
    *cells = static_cast<float>(value - offset);
    are_finite &= std::isfinite(*cells);
    cells += width;
  }
  return are_finite;
}

float TableBuilder::number(size_t column, std::string_view field) {
  const std::optional<double> value = number_in(field, format_, header_.columns[column].unit);
  const auto number = static_cast<float>(value.value_or(0) - header_.offsets[column]);
  const bool stands_for_itself = value && !format_.missing.contains(*value);
  if (stands_for_itself && std::isfinite(number)) return number;
  if (!is_missing(field, format_) || header_.columns[column].refuses_missing) {
    throw CellError(column,
                    number_problem(field, value, header_.columns[column], format_, header_));
  }
  ++num_missing_[column];
  return kMissing;
}

float TableBuilder::missing_number(size_t column) {
  if (header_.columns[column].refuses_missing) {
    throw CellError(column,
                    number_problem("", std::nullopt, header_.columns[column], format_, header_));
  }
  ++num_missing_[column];
  return kMissing;
}

void TableBuilder::date(size_t column, std::string_view field, float* cells) {
  if (is_missing(field, format_)) {
    std::fill_n(cells, header_.columns[column].parts.size(), missing_number(column));
    return;
  }
  const HeaderColumn& about = header_.columns[column];
  const std::optional<Time> time = parse_time(field, about.date_order);
  if (!time || time->kind != TimeKind::kDate) throw CellError(column, date_problem(field, about));
  date(column, time->value, cells);
}

void TableBuilder::date(size_t column, double seconds, float* cells) {
  constexpr double kMaxSeconds = 9e11;  // 28,000 years
  if (!(std::abs(seconds) <= kMaxSeconds)) {
    throw CellError(column, date_problem(fmt::format("{} seconds since 1970", seconds),
                                         header_.columns[column]));
  }
  for (const config::DatePart part : header_.columns[column].parts) {
    const double value = part_of(seconds, part);
    const double offset = part == config::DatePart::kSeconds ? header_.offsets[column] : 0;
    *cells++ = static_cast<float>(value - offset);
  }
}

float TableBuilder::category(size_t column, std::string_view field) {
  if (header_.columns[column].kind == ColumnKind::kIgnored) return kMissing;
  if (const std::optional<size_t> known = interners_[column].recent(field)) {
    return static_cast<float>(*known);
  }
  if (is_missing(field, format_)) {
    ++num_missing_[column];
    return kMissing;
  }
  const bool is_open = !header_.columns[column].is_declared;
  if (field.size() > kMaxCategoryBytes) {
    if (!is_open) throw CellError(column, length_problem(field));
    leave_out(column, fmt::format("long texts (over {} bytes)", with_thousands(kMaxCategoryBytes)));
    return kMissing;
  }
  const auto [number, is_new] = interners_[column].intern(field);
  if (is_new && !is_utf8(field)) {
    throw CellError(column, fmt::format("expected text in UTF-8, got {}; save the file as UTF-8",
                                        in_quotes(field)));
  }
  const size_t max_texts = max_categories_ == 0 ? kMaxCategories : max_categories_;
  if (is_open && interners_[column].size() > max_texts) {
    leave_out(column, fmt::format("more than {} distinct texts (data.max_categories)",
                                  with_thousands(static_cast<int64_t>(max_texts))));
    return kMissing;
  }
  return static_cast<float>(number);
}

void TableBuilder::target(size_t column, std::string_view field, size_t cell) {
  if (table_.targets.set_recent(cell, field)) return;
  require_present(column, field, "a target",
                  !header_.is_of_training ? kFillIn
                  : field.empty()         ? kFillInOrDrop
                                          : kFillInOrKeep);
  const std::string_view text = trimmed(field);
  const bool is_plain =
      text.size() == field.size() && format_.decimal == '.' && format_.thousands == '\0';
  if (!is_plain && number_in(text, format_)) {
    table_.targets.set(cell, *plain_number(text, format_.decimal, format_.thousands));
  } else {
    table_.targets.set(cell, field);
  }
}

void TableBuilder::target(size_t column, double value, TargetCells::Written written, size_t cell) {
  if (std::isfinite(value) && !format_.missing.contains(value)) {
    table_.targets.set(cell, value, written);
  } else {
    target(column, fmt::format("{}", value), cell);
  }
}

Split TableBuilder::split(size_t column, std::string_view field) const {
  if (const std::optional<Split> split = parse_split(field)) return *split;
  throw CellError(
      column, fmt::format("expected train, validation (or val) or test, got {}", in_quotes(field)));
}

int64_t TableBuilder::group(size_t column, std::string_view field) {
  require_present(column, field, "a group", kFillIn);
  const auto [number, is_new] = interners_[column].intern(field);
  if (is_new) {
    const auto next = static_cast<int64_t>(group_of_value_.size());
    groups_.push_back(group_of_value_.emplace(group_key(field, format_), next).first->second);
  }
  return groups_[number];
}

float TableBuilder::weight(size_t column, std::string_view field) const {
  require_present(column, field, "a weight", kFillIn);
  const auto weight = static_cast<float>(number_in(field, format_).value_or(-1));
  if (std::isfinite(weight) && weight >= 0) return weight;
  throw CellError(column,
                  fmt::format("expected a weight (a number >= 0), got {}", in_quotes(field)));
}

double TableBuilder::time(size_t column, std::string_view field) {
  const config::DateOrder order = header_.columns[column].date_order;
  const std::optional<Time> time = parse_time(field, order);
  if (!time) {
    DateOrders orders;
    const char* fix = orders.add(field) ? "; set data.date_order: day_first or month_first" : "";
    throw CellError(
        column,
        fmt::format("expected a time, a number or a date such as {}, got {}{}", examples(order),
                    is_missing(field, format_) ? missing_as_found(field) : in_quotes(field), fix));
  }
  if (time_kind_.value_or(time->kind) != time->kind) {
    throw CellError(column, fmt::format("expected a {} as in previous rows, got {}",
                                        *time_kind_ == TimeKind::kNumber ? "number" : "date",
                                        in_quotes(field)));
  }
  time_kind_ = time->kind;
  return time->value;
}

void TableBuilder::finish() {
  const auto num_rows = table_.lines.size();
  for (size_t i = 0; i < header_.columns.size(); ++i) {
    HeaderColumn& column = header_.columns[i];
    leave_out_names(i);
    if (column.role == Role::kDate) {
      add_parts(i);
      continue;
    }
    if (column.role == Role::kNumber || column.role == Role::kText) {
      table_.feature_names.push_back(column.name);
      table_.dictionaries.push_back(interners_[i].take());
      table_.num_missing.push_back(num_missing_[i]);
    }
    if (column.role != Role::kTarget) {
      Column& added = table_.columns.emplace_back(
          Column{column.name, column.kind, column.is_declared, column.reason});
      added.offset = header_.offsets[i];
      added.unit = column.unit;
    }
  }
  table_.features.num_rows = static_cast<int64_t>(num_rows);
  table_.features.num_columns = static_cast<int64_t>(header_.num_features);
}

void TableBuilder::add_parts(size_t column) {
  const HeaderColumn& date = header_.columns[column];
  for (const config::DatePart part : date.parts) {
    Column& added = table_.columns.emplace_back(Column{part_name(date.name, part)});
    added.source = date.name;
    added.date_part = part;
    added.date_order = date.date_order;
    added.offset = part == config::DatePart::kSeconds ? header_.offsets[column] : 0;
    table_.feature_names.push_back(added.name);
    table_.dictionaries.emplace_back();
    table_.num_missing.push_back(num_missing_[column]);
  }
}

// Its cells are still there, and nobody looks at them.
void TableBuilder::leave_out(size_t column, std::string reason) {
  header_.columns[column].kind = ColumnKind::kIgnored;
  header_.columns[column].reason = std::move(reason);
  interners_[column].clear();
}

// Few rows of each category: a name, not a kind.
void TableBuilder::leave_out_names(size_t column) {
  constexpr int64_t kFewCategories = 10;
  const HeaderColumn& about = header_.columns[column];
  const auto num_texts = static_cast<int64_t>(interners_[column].size());
  if (about.role != Role::kText || about.is_declared || num_texts <= kFewCategories) return;
  const auto num_rows = static_cast<int64_t>(table_.lines.size());
  const int64_t num_present = num_rows - num_missing_[column];
  if (2 * num_texts > num_present) {
    leave_out(column, fmt::format("almost every text is different ({} distinct in {} rows)",
                                  with_thousands(num_texts), with_thousands(num_present)));
  } else if (max_categories_ == 0 && kRowsPerCategory * num_texts > num_present) {
    leave_out(
        column,
        fmt::format("fewer than {} rows per category ({} distinct texts; data.max_categories)",
                    kRowsPerCategory, with_thousands(num_texts)));
  }
}

void TableBuilder::require_present(size_t column, std::string_view field, std::string_view what,
                                   std::string_view fix) const {
  if (!is_missing(field, format_)) return;
  throw CellError(column,
                  fmt::format("expected {}, got {}; {}", what, missing_as_found(field), fix));
}

}  // namespace trainer::data
