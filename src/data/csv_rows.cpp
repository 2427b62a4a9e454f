// SPDX-License-Identifier: Apache-2.0
#include "data/csv_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/parse.h"
#include "trainer/core/utf8.h"

#include "data/csv_cell_problems.h"
#include "data/error.h"

namespace trainer::data {
namespace {

constexpr size_t kMaxCategoryBytes = 1000;
constexpr size_t kMaxCategories = 10'000;  // with data.max_categories: auto
constexpr int64_t kRowsPerCategory = 5;    // at least, on average, with auto
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

Split parse_split(std::string_view field, bool& is_known) {
  const std::string name = lower_case(field);
  is_known = true;
  if (name == "train" || name == "training") return Split::kTrain;
  if (name == "validation" || name == "val" || name == "valid") return Split::kValidation;
  is_known = name == "test";
  return Split::kTest;
}

}  // namespace

RowReader::RowReader(CsvCursor& cursor, CsvHeader& header, int64_t max_categories, Table& table)
    : cursor_(cursor),
      header_(header),
      max_categories_(static_cast<size_t>(max_categories)),
      table_(table),
      num_targets_(table.target_names.size()),
      features_(std::get<std::vector<float>>(table.features.values)),
      numbers_(header.num_features),
      interners_(header.columns.size()),
      num_missing_(header.columns.size()) {}

void RowReader::read_row() {
  if (header_.drops_rows_without_target && lacks_target()) {
    fail_unless_well_formed();
    ++table_.num_without_target;
    return;
  }
  table_.lines.push_back(cursor_.row_line());
  table_.targets.resize(table_.targets.size() + num_targets_);
  table_.ids.resize(table_.ids.size() + table_.id_names.size());
  for (size_t column = 0; column < header_.columns.size();) {
    if (!cursor_.in_row()) fail_unless_well_formed();
    column += read_cells(column);
  }
  if (cursor_.in_row()) fail_unless_well_formed();
}

// Before anything of the row is kept.
bool RowReader::lacks_target() {
  bool is_lacking = false;
  for (size_t column = 0; column < header_.columns.size() && cursor_.in_row(); ++column) {
    const std::string_view field = cursor_.next_field();
    is_lacking = is_lacking || (header_.columns[column].role == Role::kTarget &&
                                is_missing(field, cursor_.format()));
  }
  cursor_.rewind_row();
  return is_lacking;
}

// Few rows of each category: a name, not a kind.
void RowReader::leave_out_names(size_t column) {
  constexpr int64_t kFewCategories = 10;
  const CsvColumn& about = header_.columns[column];
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

void RowReader::finish() {
  const auto num_rows = table_.lines.size();
  for (size_t i = 0; i < header_.columns.size(); ++i) {
    CsvColumn& column = header_.columns[i];
    leave_out_names(i);
    if (column.role == Role::kNumber || column.role == Role::kText) {
      table_.feature_names.push_back(column.name);
      table_.dictionaries.push_back(interners_[i].take());
      table_.num_missing.push_back(num_missing_[i]);
    }
    if (column.role != Role::kTarget) {
      Column& added = table_.columns.emplace_back(
          Column{column.name, column.kind, column.is_declared, column.reason});
      added.offset = header_.offsets[i];
    }
  }
  table_.features.num_rows = static_cast<int64_t>(num_rows);
  table_.features.num_columns = static_cast<int64_t>(header_.num_features);
}

// Reads one cell or more from `column` on and says how many.
size_t RowReader::read_cells(size_t column) {
  switch (header_.columns[column].role) {
    case Role::kNumber:
      return read_numbers(column);
    case Role::kText:
      features_.push_back(next_text(column));
      break;
    case Role::kTarget:
      table_.targets[table_.targets.size() - num_targets_ + header_.columns[column].index] =
          next_target(column);
      break;
    case Role::kSkipped:
      next_cell(column);
      break;
    case Role::kSplit:
      table_.splits.push_back(next_split(column));
      break;
    case Role::kGroup:
      table_.groups.push_back(
          static_cast<int64_t>(interners_[column].intern(next_required(column, "a group")).first));
      break;
    case Role::kWeight:
      table_.weights.push_back(next_weight(column));
      break;
    case Role::kId:
      table_.ids[table_.ids.size() - table_.id_names.size() + header_.columns[column].index] =
          next_cell(column);
      break;
  }
  return 1;
}

// What a column is read for beside its role.
std::string_view RowReader::next_cell(size_t column) {
  const std::string_view field = cursor_.next_field();
  const CsvColumn& about = header_.columns[column];
  if (about.kept_index)
    table_.ids[table_.ids.size() - table_.id_names.size() + *about.kept_index] = field;
  if (about.is_time) add_time(column, field);
  return field;
}

void RowReader::add_time(size_t column, std::string_view field) {
  const std::optional<Time> time = parse_time(field);
  if (!time) {
    fail(column, fmt::format("expected a time, a number or a date such as 2026-03-01 or "
                             "2026-03-01T12:30:00, got {}",
                             is_missing(field, cursor_.format()) ? missing_as_found(field)
                                                                 : in_quotes(field)));
  }
  if (time_kind_.value_or(time->kind) != time->kind) {
    fail(column,
         fmt::format("expected a {} as in previous rows, got {}",
                     *time_kind_ == TimeKind::kNumber ? "number" : "date", in_quotes(field)));
  }
  time_kind_ = time->kind;
  table_.times.push_back(time->value);
}

std::optional<Error> RowReader::try_row() {
  const size_t num_rows = table_.lines.size();
  try {
    read_row();
    return std::nullopt;
  } catch (const Error& error) {
    cursor_.count_fields();  // to the end of the row; throws where that is not known
    table_.lines.resize(num_rows);
    table_.targets.resize(num_rows * num_targets_);
    table_.ids.resize(num_rows * table_.id_names.size());
    features_.resize(num_rows * header_.num_features);
    if (table_.weights.size() > num_rows) table_.weights.resize(num_rows);
    return error;
  }
}

size_t RowReader::read_numbers(size_t column) {
  const size_t count =
      cursor_.next_plain_numbers(std::span(numbers_).first(header_.numbers_from[column]));
  if (count > 0) {
    const double* offsets = header_.offsets.data() + column;
    const size_t first = features_.size();
    features_.resize(first + count);
    for (size_t i = 0; i < count; ++i) {
      features_[first + i] = static_cast<float>(numbers_[i] - offsets[i]);
    }
    return count;
  }
  features_.push_back(next_number(column));
  return 1;
}

float RowReader::next_number(size_t column) {
  const std::string_view field = next_cell(column);
  const CsvFormat& format = cursor_.format();
  const std::optional<double> value = number_in(field, format.decimal);
  const auto number = static_cast<float>(value.value_or(0) - header_.offsets[column]);
  const bool stands_for_itself = value && !format.missing.contains(*value);
  if (stands_for_itself && std::isfinite(number)) return number;
  if (!is_missing(field, format) || header_.columns[column].refuses_missing) {
    fail(column, number_problem(field, value, header_.columns[column], format, header_));
  }
  ++num_missing_[column];
  return kMissing;
}

float RowReader::next_text(size_t column) {
  const std::string_view field = next_cell(column);
  if (header_.columns[column].kind == ColumnKind::kIgnored) return kMissing;
  if (is_missing(field, cursor_.format())) {
    ++num_missing_[column];
    return kMissing;
  }
  const bool is_open = !header_.columns[column].is_declared;
  if (field.size() > kMaxCategoryBytes) {
    if (!is_open) fail_for_length(column, field);
    leave_out(column, fmt::format("long texts (over {} bytes)", with_thousands(kMaxCategoryBytes)));
    return kMissing;
  }
  const auto [number, is_new] = interners_[column].intern(field);
  if (is_new && !is_utf8(field)) {
    fail(column,
         fmt::format("expected text in UTF-8, got {}; save the file as UTF-8", in_quotes(field)));
  }
  const size_t max_texts = max_categories_ == 0 ? kMaxCategories : max_categories_;
  if (is_open && interners_[column].size() > max_texts) {
    leave_out(column, fmt::format("more than {} distinct texts (data.max_categories)",
                                  with_thousands(static_cast<int64_t>(max_texts))));
    return kMissing;
  }
  return static_cast<float>(number);
}

// Its cells are still there, and nobody looks at them.
void RowReader::leave_out(size_t column, std::string reason) {
  header_.columns[column].kind = ColumnKind::kIgnored;
  header_.columns[column].reason = std::move(reason);
  interners_[column].clear();
}

std::string_view RowReader::next_required(size_t column, std::string_view what,
                                          std::string_view fix) {
  const std::string_view field = next_cell(column);
  if (is_missing(field, cursor_.format())) {
    fail(column, fmt::format("expected {}, got {}; {}", what, missing_as_found(field), fix));
  }
  return field;
}

// As text, a number with a decimal point.
std::string RowReader::next_target(size_t column) {
  std::string text(next_required(column, "a target",
                                 header_.is_of_training
                                     ? "fill it in, remove the row, or drop all such rows with "
                                       "data.drop_rows_without_target: true"
                                     : "fill it in or remove the row"));
  const char decimal = cursor_.format().decimal;
  if (decimal != '.' && number_in(text, decimal)) {
    std::replace(text.begin(), text.end(), decimal, '.');
  }
  return text;
}

Split RowReader::next_split(size_t column) {
  const std::string_view field = cursor_.next_field();
  bool is_known = false;
  const Split split = parse_split(field, is_known);
  if (!is_known) {
    fail(column,
         fmt::format("expected train, validation (or val) or test, got {}", in_quotes(field)));
  }
  return split;
}

float RowReader::next_weight(size_t column) {
  const std::string_view field = next_required(column, "a weight");
  const auto weight = static_cast<float>(number_in(field, cursor_.format().decimal).value_or(-1));
  if (std::isfinite(weight) && weight >= 0) return weight;
  fail(column, fmt::format("expected a weight (a number >= 0), got {}", in_quotes(field)));
}

std::string RowReader::location() const {
  return fmt::format("{}:{}", table_.file, cursor_.row_line());
}

void RowReader::fail_for_length(size_t column, std::string_view field) {
  fail(column,
       fmt::format("expected a category of at most {} bytes, got {} bytes: {}; check for an "
                   "unclosed quote, or drop the column with data.ignore if it is free text",
                   with_thousands(kMaxCategoryBytes),
                   with_thousands(static_cast<int64_t>(field.size())), in_quotes(field)));
}

void RowReader::fail(size_t column, const std::string& problem) {
  fail_unless_well_formed();
  throw data_error(location(),
                   fmt::format("column {}: {}", in_quotes(header_.columns[column].name), problem));
}

// A delimiter too many moves all cells behind it, so this is the better thing to say first.
void RowReader::fail_unless_well_formed() {
  const size_t num_fields = cursor_.count_fields();
  if (num_fields == header_.columns.size()) return;
  throw data_error(location(), fmt::format("expected {} fields as in the header, got {}",
                                           header_.columns.size(), num_fields));
}

}  // namespace trainer::data
