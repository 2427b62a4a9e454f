// SPDX-License-Identifier: Apache-2.0
#include "data/csv_rows.h"

#include <span>

#include <fmt/format.h>

#include "trainer/core/format.h"

#include "data/error.h"

namespace trainer::data {

bool has_weight_zero(CsvCursor& cursor, size_t weight) {
  std::string_view field;
  for (size_t column = 0; column <= weight && cursor.in_row(); ++column) {
    field = cursor.next_field();
  }
  const std::optional<double> number = number_in(field, cursor.format());
  const bool is_zero = number && static_cast<float>(*number) == 0;
  cursor.rewind_row();
  return is_zero;
}

RowReader::RowReader(CsvCursor& cursor, TableHeader& header, int64_t max_categories, Table& table)
    : cursor_(cursor),
      header_(header),
      table_(table),
      builder_(header, cursor.format(), max_categories, table),
      num_targets_(table.target_names.size()),
      weight_(weight_column(header)),
      features_(std::get<Array<float>>(table.features.values)),
      numbers_(header.num_features) {}

void RowReader::read_row(int64_t line) {
  if (int64_t* count = left_out()) {
    fail_unless_well_formed();
    ++*count;
    return;
  }
  table_.lines.push_back(line);
  table_.targets.resize(table_.targets.size() + num_targets_);
  table_.ids.resize(table_.ids.size() + table_.id_names.size());
  try {
    read_all_cells();
  } catch (const CellError& error) {
    fail(error);
  }
}

void RowReader::read_all_cells() {
  for (size_t column = 0; column < header_.columns.size();) {
    if (!cursor_.in_row()) fail_unless_well_formed();
    column += read_cells(column);
  }
  if (cursor_.in_row()) fail_unless_well_formed();
}

// Where the row is counted if it is to be left out, before anything of it is kept.
int64_t* RowReader::left_out() {
  if (weight_ && has_weight_zero(cursor_, *weight_)) return &table_.num_weightless;
  if (header_.drops_rows_without_target && lacks_target()) return &table_.num_without_target;
  return nullptr;
}

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

// Reads one cell or more from `column` on and says how many.
size_t RowReader::read_cells(size_t column) {
  switch (header_.columns[column].role) {
    case Role::kNumber:
      return read_numbers(column);
    case Role::kText:
      features_.push_back(builder_.category(column, next_cell(column)));
      break;
    case Role::kDate: {
      const size_t first = features_.size();
      features_.resize(first + header_.columns[column].parts.size());
      builder_.date(column, next_cell(column), features_.data() + first);
      break;
    }
    case Role::kTarget:
      builder_.target(column, next_cell(column),
                      table_.targets.size() - num_targets_ + header_.columns[column].index);
      break;
    case Role::kSkipped:
      next_cell(column);
      break;
    case Role::kSplit:
      table_.splits.push_back(builder_.split(column, cursor_.next_field()));
      break;
    case Role::kGroup:
      table_.groups.push_back(builder_.group(column, next_cell(column)));
      break;
    case Role::kWeight:
      table_.weights.push_back(builder_.weight(column, next_cell(column)));
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
  const HeaderColumn& about = header_.columns[column];
  if (about.kept_index)
    table_.ids[table_.ids.size() - table_.id_names.size() + *about.kept_index] = field;
  if (about.is_time) table_.times.push_back(builder_.time(column, field));
  return field;
}

std::optional<Error> RowReader::try_row(int64_t line) {
  const size_t num_rows = table_.lines.size();
  try {
    read_row(line);
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
  features_.push_back(builder_.number(column, next_cell(column)));
  return 1;
}

void RowReader::fail(const CellError& error) {
  fail_unless_well_formed();
  throw data_error(
      cursor_.location(),
      fmt::format("column {}: {}", in_quotes(header_.columns[error.column].name), error.problem));
}

// A delimiter too many moves all cells behind it, so this is the better thing to say first.
void RowReader::fail_unless_well_formed() {
  const size_t num_fields = cursor_.count_fields();
  if (num_fields == header_.columns.size()) return;
  throw data_error(cursor_.location(), fmt::format("expected {} fields as in the header, got {}",
                                                   header_.columns.size(), num_fields));
}

}  // namespace trainer::data
