// SPDX-License-Identifier: Apache-2.0
#include "data/csv_rows.h"

#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "trainer/core/text.h"

#include "data/file_bytes.h"

namespace trainer::data {
namespace {

constexpr size_t kMaxCategoryBytes = 1000;
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

std::string missing_as_found(std::string_view field) {
  return field.empty() ? "an empty field" : fmt::format("{}, a missing value", in_quotes(field));
}

std::string fix_of_missing(const CsvColumn& column) {
  return column.is_trained ? "fill it in, as the model has no value to take for it"
                           : "fill it in, choose a data.fill or leave the column out with "
                             "data.ignore";
}

std::string fix_of_text(const CsvColumn& column, std::string_view field) {
  if (const std::string number = without_commas(field); !number.empty()) {
    return "write it without a comma: " + number;
  }
  if (column.is_trained) return "correct it, as the column was numeric in the training data";
  return column.is_declared ? "correct it or list the column in data.categorical"
                            : "correct it, or list the column in data.categorical or data.ignore";
}

// Why `field` cannot be a number of `column`.
std::string number_problem(std::string_view field, std::optional<double> value,
                           const CsvColumn& column) {
  if (is_missing(field)) {
    return fmt::format("expected a number, got {}; {}", missing_as_found(field),
                       fix_of_missing(column));
  }
  if (!value) {
    return fmt::format("expected a number, got {}; {}", in_quotes(field),
                       fix_of_text(column, field));
  }
  const std::string_view limit = std::isfinite(*value) ? " of at most 3.4e+38" : "";
  return fmt::format("expected a finite number{}, got {}", limit, in_quotes(field));
}

Part part_of(std::string_view field, bool& is_known) {
  const std::string name = lower_case(field);
  is_known = true;
  if (name == "train" || name == "training") return Part::kTrain;
  if (name == "validation" || name == "val" || name == "valid") return Part::kValidation;
  is_known = name == "test";
  return Part::kTest;
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
      words_(header.columns.size()),
      num_missing_(header.columns.size()) {}

void RowReader::read_row() {
  table_.lines.push_back(cursor_.row_line());
  table_.targets.resize(table_.targets.size() + num_targets_);
  table_.ids.resize(table_.ids.size() + table_.id_names.size());
  for (size_t column = 0; column < header_.columns.size();) {
    if (!cursor_.in_row()) fail_unless_well_formed();
    column += read_cells(column);
  }
  if (cursor_.in_row()) fail_unless_well_formed();
}

void RowReader::finish() {
  const auto num_rows = table_.lines.size();
  for (size_t i = 0; i < header_.columns.size(); ++i) {
    CsvColumn& column = header_.columns[i];
    // Few rows of each category: a name, not a kind.
    constexpr size_t kFewCategories = 10;
    if (column.role == Role::kText && !column.is_declared && words_[i].size() > kFewCategories &&
        2 * words_[i].size() > num_rows) {
      leave_out(i, fmt::format("its texts hardly ever repeat ({} in {} rows)", words_[i].size(),
                               with_thousands(static_cast<int64_t>(num_rows))));
    }
    if (column.role == Role::kNumber || column.role == Role::kText) {
      table_.feature_names.push_back(column.name);
      table_.words.push_back(words_[i].take());
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
      table_.targets[table_.targets.size() - num_targets_ + header_.columns[column].place] =
          next_required(column, "a value to predict");
      break;
    case Role::kSkipped:
      cursor_.next_field();
      break;
    case Role::kPart:
      table_.parts.push_back(next_part(column));
      break;
    case Role::kGroup:
      table_.groups.push_back(
          static_cast<int64_t>(words_[column].number_of(next_required(column, "a group")).first));
      break;
    case Role::kWeight:
      table_.weights.push_back(next_weight(column));
      break;
    case Role::kId:
      table_.ids[table_.ids.size() - table_.id_names.size() + header_.columns[column].place] =
          cursor_.next_field();
      break;
  }
  return 1;
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
  const std::string_view field = cursor_.next_field();
  const std::optional<double> value = parse_double(field);
  const auto number = static_cast<float>(value.value_or(0) - header_.offsets[column]);
  if (value && std::isfinite(number)) return number;
  if (!is_missing(field) || header_.columns[column].refuses_missing) {
    fail(column, number_problem(field, value, header_.columns[column]));
  }
  ++num_missing_[column];
  return kMissing;
}

float RowReader::next_text(size_t column) {
  const std::string_view field = cursor_.next_field();
  if (header_.columns[column].kind == ColumnKind::kLeftOut) return kMissing;
  if (is_missing(field)) {
    ++num_missing_[column];
    return kMissing;
  }
  const bool is_open = !header_.columns[column].is_declared;
  if (field.size() > kMaxCategoryBytes) {
    if (!is_open) fail_for_length(column, field);
    leave_out(column, fmt::format("it holds long texts (over {} bytes)",
                                  with_thousands(kMaxCategoryBytes)));
    return kMissing;
  }
  const auto [number, is_new] = words_[column].number_of(field);
  if (is_new && !is_utf8(field)) {
    fail(column,
         fmt::format("expected text in UTF-8, got {}; save the file as UTF-8", in_quotes(field)));
  }
  if (is_open && words_[column].size() > max_categories_) {
    leave_out(column, fmt::format("more than {} different texts (data.max_categories)",
                                  with_thousands(static_cast<int64_t>(max_categories_))));
    return kMissing;
  }
  return static_cast<float>(number);
}

// Its cells are still there, and nobody looks at them.
void RowReader::leave_out(size_t column, std::string reason) {
  header_.columns[column].kind = ColumnKind::kLeftOut;
  header_.columns[column].reason = std::move(reason);
  words_[column].clear();
}

std::string_view RowReader::next_required(size_t column, std::string_view what) {
  const std::string_view field = cursor_.next_field();
  if (is_missing(field)) {
    fail(column, fmt::format("expected {}, got {}; fill it in or remove the row", what,
                             missing_as_found(field)));
  }
  return field;
}

Part RowReader::next_part(size_t column) {
  const std::string_view field = cursor_.next_field();
  bool is_known = false;
  const Part part = part_of(field, is_known);
  if (!is_known) {
    fail(column,
         fmt::format("expected train, validation (or val) or test, got {}", in_quotes(field)));
  }
  return part;
}

float RowReader::next_weight(size_t column) {
  const std::string_view field = next_required(column, "a weight");
  const auto weight = static_cast<float>(parse_double(field).value_or(-1));
  if (std::isfinite(weight) && weight >= 0) return weight;
  fail(column, fmt::format("expected a weight, a number of at least 0, got {}", in_quotes(field)));
}

std::string RowReader::place() const {
  return fmt::format("{}:{}", table_.file, cursor_.row_line());
}

void RowReader::fail_for_length(size_t column, std::string_view field) {
  fail(column, fmt::format("expected a category of at most {} bytes, got {} bytes: {}; is a "
                           "quote not closed? leave the column out with data.ignore if it is "
                           "free text",
                           with_thousands(kMaxCategoryBytes),
                           with_thousands(static_cast<int64_t>(field.size())), in_quotes(field)));
}

void RowReader::fail(size_t column, const std::string& problem) {
  fail_unless_well_formed();
  throw data_error(place(),
                   fmt::format("column {}: {}", in_quotes(header_.columns[column].name), problem));
}

// A delimiter too many moves all cells behind it, so this is the better thing to say first.
void RowReader::fail_unless_well_formed() {
  const size_t num_fields = cursor_.count_fields();
  if (num_fields == header_.columns.size()) return;
  throw data_error(place(), fmt::format("expected {} fields as in the header, got {}",
                                        header_.columns.size(), num_fields));
}

}  // namespace trainer::data
