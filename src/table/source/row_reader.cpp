// SPDX-License-Identifier: Apache-2.0
#include "table/source/row_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

#include "table/dataset.h"
#include "table/error.h"

namespace trainer::data {
namespace {

// A target of a type whose texts are known from its numbers.
void read_as_number(Reading& target, const SourceColumn& column) {
  constexpr std::array<std::string_view, 5> kWhole = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT",
                                                      "USMALLINT"};
  const bool is_whole = std::find(kWhole.begin(), kWhole.end(), column.type_name) != kWhole.end();
  if (!is_whole && column.type_name != "DOUBLE") return;
  target.type = CellType::kNumber;
  target.written = is_whole ? TargetCells::Written::kWhole : TargetCells::Written::kFloating;
}

bool is_feature(const Reading& reading) {
  return reading.role == Role::kNumber || reading.role == Role::kText ||
         reading.role == Role::kDate;
}

// Whether the cells of a feature come as numbers. Text has one cell for all that a column is read
// for; it is a number only if it is nothing else, and has no unit.
CellType feature_type(const HeaderColumn& column, const SourceColumn& source) {
  if (source.type) {
    const bool is_number = column.role == Role::kNumber || column.role == Role::kDate;
    return is_number && *source.type != duckdb::ColumnType::kText ? CellType::kNumber
                                                                  : CellType::kText;
  }
  const bool is_plain =
      column.role == Role::kNumber && !column.kept_index && !column.is_time && column.unit.empty();
  return is_plain ? CellType::kNumber : CellType::kText;
}

void add_readings(std::size_t index, const HeaderColumn& column, const SourceColumn& source,
                  std::size_t& num_features, std::vector<Reading>& readings) {
  if (column.is_time) readings.push_back({.column = index, .role = Role::kTime});
  if (column.kept_index) {
    readings.push_back({.column = index, .role = Role::kId, .index = *column.kept_index});
  }
  if (column.role == Role::kSkipped) return;
  Reading reading{.column = index, .role = column.role, .index = column.index};
  if (is_feature(reading)) {
    reading.type = feature_type(column, source);
    reading.index = num_features;
    num_features += num_cells(column);
  }
  if (column.role == Role::kTarget) read_as_number(reading, source);
  readings.push_back(reading);
}

}  // namespace

ReadingPlan plan_readings(const TableHeader& header, const ChunkSource& source) {
  ReadingPlan plan;
  std::vector<Reading>& readings = plan.readings;
  std::size_t num_features = 0;
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    add_readings(i, header.columns[i], source.columns()[i], num_features, readings);
  }
  std::stable_partition(readings.begin(), readings.end(),
                        [](const Reading& reading) { return reading.role == Role::kTarget; });
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> in_chunk(header.columns.size(), kNone);  // of text, which comes once
  for (Reading& reading : readings) {
    reading.in_chunk = in_chunk[reading.column];
    if (reading.in_chunk == kNone) {
      reading.in_chunk = plan.wanted.size();
      plan.wanted.push_back({reading.column, reading.type});
      if (!source.has_types()) in_chunk[reading.column] = reading.in_chunk;
    }
    if (reading.role == Role::kWeight) plan.weight = reading.in_chunk;
  }
  return plan;
}

bool has_weight_zero(const Chunk& chunk, const ReadingPlan& plan, int64_t row,
                     const CsvFormat& format) {
  if (!plan.weight) return false;
  const std::string_view cell = chunk.columns[*plan.weight].texts[static_cast<std::size_t>(row)];
  const std::optional<double> number = number_in(cell, format);
  return number && static_cast<float>(*number) == 0;
}

RowReader::RowReader(TableHeader& header, const ReadingPlan& plan, const CsvFormat& format,
                     int64_t max_categories, bool collects_bad, Table& table)
    : header_(header),
      plan_(plan),
      format_(format),
      collects_bad_(collects_bad),
      table_(table),
      builder_(header, format, max_categories, table),
      of_odd_(plan.wanted.size()) {
  for (std::size_t i = 0; i < plan.readings.size(); ++i) {
    if (is_feature(plan.readings[i])) of_odd_[plan.readings[i].in_chunk] = i;
  }
}

void RowReader::read(const Chunk& chunk) {
  chunk_ = &chunk;
  first_ = table_.lines.size();
  choose_rows();
  const std::size_t num_rows = table_.lines.size();
  // A cell that is not written is bad, and its row is removed.
  std::get<Array<float>>(table_.features.values)
      .resize_for_overwrite(num_rows * header_.num_features);
  table_.targets.resize(num_rows * table_.target_names.size());
  table_.ids.resize(num_rows * table_.id_names.size());
  for (std::size_t i = 0; i < plan_.readings.size();) i += read_columns(i);
  read_odd_cells();
  if (collects_bad_ || bad_.empty()) return;
  const auto& [row, problem] = *bad_.begin();
  throw data_error(chunk.location(rows_[static_cast<std::size_t>(row) - first_]), text_of(problem));
}

std::vector<BadRow> RowReader::finish() {
  std::vector<BadRow> bad;
  bad.reserve(bad_.size());
  for (const auto& [row, problem] : bad_) {
    bad.push_back({table_.lines[static_cast<std::size_t>(row)], text_of(problem)});
  }
  remove_bad();
  builder_.finish();
  return bad;
}

void RowReader::choose_rows() {
  rows_.clear();
  auto malformed = chunk_->malformed.begin();
  for (int64_t row = 0; row < chunk_->num_rows; ++row) {
    const bool is_malformed = malformed != chunk_->malformed.end() && malformed->first == row;
    if (is_malformed) {
      add_bad(std::ssize(table_.lines), {.column = std::nullopt, .text = malformed->second});
      ++malformed;
    } else if (has_weight_zero(*chunk_, plan_, row, format_)) {
      ++table_.num_weightless;
      continue;
    } else if (header_.drops_rows_without_target && lacks_target(row)) {
      ++table_.num_without_target;
      continue;
    }
    rows_.push_back(row);
    table_.lines.push_back(table_.has_lines ? chunk_->lines[static_cast<std::size_t>(row)]
                                            : chunk_->first_number + row);
  }
}

bool RowReader::lacks_cell(const Reading& reading, int64_t row) const {
  const ChunkColumn& column = chunk_->columns[reading.in_chunk];
  if (reading.type == CellType::kText) {
    return is_missing(column.texts[static_cast<std::size_t>(row)], format_);
  }
  if (!column.has_number(row)) return true;
  const double number = column.number(row);
  return format_.missing.contains(number) || (std::isnan(number) && is_missing("nan", format_));
}

bool RowReader::lacks_target(int64_t row) const {
  const auto begin = plan_.readings.begin();
  return std::any_of(begin, begin + std::ssize(table_.target_names),
                     [&](const Reading& target) { return lacks_cell(target, row); });
}

// The cell of a whole row comes before all others, else the leftmost.
void RowReader::add_bad(int64_t row, Problem problem) {
  const auto [known, is_new] = bad_.emplace(row, problem);
  if (!is_new && problem.column < known->second.column) known->second = std::move(problem);
}

// Calls take(i, row) for the i-th row that is read; a bad cell does not end it.
template <class Take>
void RowReader::for_each_row(Take take) {
  for (std::size_t i = 0; i < rows_.size();) {
    try {
      for (; i < rows_.size(); ++i) take(i, static_cast<std::size_t>(rows_[i]));
    } catch (const CellError& error) {
      add_bad(static_cast<int64_t>(first_ + i), {.column = error.column, .text = error.problem});
      ++i;
    }
  }
}

// Calls take(i, cell) with a number, or with a text, which is empty where there is none.
template <class Take>
void RowReader::for_each_cell(const Reading& reading, Take take) {
  const ChunkColumn& column = chunk_->columns[reading.in_chunk];
  if (reading.type == CellType::kText) {
    for_each_row([&](std::size_t i, std::size_t row) { take(i, column.texts[row]); });
    return;
  }
  for_each_row([&](std::size_t i, std::size_t row) {
    if (column.has_number(static_cast<int64_t>(row))) {
      take(i, column.number(static_cast<int64_t>(row)));
    } else {
      take(i, std::string_view());
    }
  });
}

// Reads what is read of one column, or of several that follow each other, and says how many.
std::size_t RowReader::read_columns(std::size_t first) {
  const Reading& reading = plan_.readings[first];
  if (reading.role == Role::kNumber && reading.type == CellType::kNumber) {
    if (chunk_->has_plain_numbers) return read_plain_numbers(first);
    read_numbers(reading);
  } else {
    read_column(reading);
  }
  return 1;
}

void RowReader::read_column(const Reading& reading) {
  const std::size_t column = reading.column;
  const std::size_t width = header_.num_features;
  // Gives `values` `[num_rows, width]` what `take` makes of a cell.
  const auto read_into = [&](auto& values, std::size_t num_values, auto take) {
    values.resize(table_.lines.size() * num_values);
    const std::vector<std::string_view>& texts = chunk_->columns[reading.in_chunk].texts;
    for_each_row([&](std::size_t i, std::size_t row) {
      values[(first_ + i) * num_values + reading.index] = take(texts[row]);
    });
  };
  switch (reading.role) {
    case Role::kTarget:
      read_target(reading);
      break;
    case Role::kNumber:
      for_each_cell(reading, [&, features = features_of(reading)](std::size_t i, auto cell) {
        features[i * width] = builder_.number(column, cell);
      });
      break;
    case Role::kDate:
      for_each_cell(reading, [&, features = features_of(reading)](std::size_t i, auto cell) {
        builder_.date(column, cell, features + i * width);
      });
      break;
    case Role::kText: {
      float* const features = features_of(reading);
      const std::vector<std::string_view>& texts = chunk_->columns[reading.in_chunk].texts;
      for_each_row([&](std::size_t i, std::size_t row) {
        features[i * width] = builder_.category(column, texts[row]);
      });
      break;
    }
    case Role::kId:
      read_into(table_.ids, table_.id_names.size(), [](std::string_view cell) { return cell; });
      break;
    case Role::kSplit:
      read_into(table_.splits, 1,
                [&](std::string_view cell) { return builder_.split(column, cell); });
      break;
    case Role::kGroup:
      read_into(table_.groups, 1,
                [&](std::string_view cell) { return builder_.group(column, cell); });
      break;
    case Role::kWeight:
      read_into(table_.weights, 1,
                [&](std::string_view cell) { return builder_.weight(column, cell); });
      break;
    case Role::kTime:
      read_into(table_.times, 1,
                [&](std::string_view cell) { return builder_.time(column, cell); });
      break;
    case Role::kSkipped:
      break;
  }
}

void RowReader::read_target(const Reading& reading) {
  const std::size_t width = table_.target_names.size();
  for_each_cell(reading, [&](std::size_t i, auto value) {
    const std::size_t cell = (first_ + i) * width + reading.index;
    if constexpr (std::is_same_v<decltype(value), double>) {
      builder_.target(reading.column, value, reading.written, cell);
    } else {
      builder_.target(reading.column, value, cell);
    }
  });
}

float* RowReader::features_of(const Reading& reading) {
  return std::get<Array<float>>(table_.features.values).data() + first_ * header_.num_features +
         reading.index;
}

// Many at once, if they follow each other and none may mean something else.
void RowReader::read_numbers(const Reading& reading) {
  const ChunkColumn& cells = chunk_->columns[reading.in_chunk];
  const bool are_all = rows_.empty() || rows_.back() - rows_.front() + 1 == std::ssize(rows_);
  if (cells.valid == nullptr && cells.stride == 1 && are_all && !rows_.empty() &&
      builder_.numbers(reading.column, {cells.numbers + rows_.front(), rows_.size()},
                       features_of(reading), header_.num_features)) {
    return;
  }
  read_column(reading);
}

// Of the features from `first` on as many as follow each other in the chunk and in the table.
std::size_t RowReader::read_plain_numbers(std::size_t first) {
  const Reading& reading = plan_.readings[first];
  const ChunkColumn& cells = chunk_->columns[reading.in_chunk];
  std::size_t count = 1;
  while (first + count < plan_.readings.size()) {
    const Reading& next = plan_.readings[first + count];
    if (next.column != reading.column + count || next.role != Role::kNumber ||
        next.type != CellType::kNumber ||
        chunk_->columns[next.in_chunk].numbers != cells.numbers + count) {
      break;
    }
    ++count;
  }
  const double* const offsets = header_.offsets.data() + reading.column;
  float* features = features_of(reading);
  for (const int64_t row : rows_) {
    const double* const numbers = cells.numbers + static_cast<std::size_t>(row) * cells.stride;
    for (std::size_t i = 0; i < count; ++i) {
      features[i] = static_cast<float>(numbers[i] - offsets[i]);
    }
    features += header_.num_features;
  }
  return count;
}

void RowReader::read_odd_cells() {
  std::size_t next = 0;
  for (const OddCell& cell : chunk_->odd) {
    while (next < rows_.size() && rows_[next] < cell.row) ++next;
    if (next == rows_.size()) return;
    if (rows_[next] != cell.row) continue;
    const Reading& reading = plan_.readings[of_odd_[cell.column]];
    try {
      features_of(reading)[next * header_.num_features] =
          builder_.number(reading.column, cell.text);
    } catch (const CellError& error) {
      add_bad(static_cast<int64_t>(first_ + next), {.column = error.column, .text = error.problem});
    }
  }
}

std::string RowReader::text_of(const Problem& problem) const {
  if (!problem.column) return problem.text;
  return fmt::format("column {}: {}", in_quotes(header_.columns[*problem.column].name),
                     problem.text);
}

void RowReader::remove_bad() {
  if (bad_.empty()) return;
  const std::size_t num_rows = table_.lines.size();
  std::vector<int64_t> good;
  for (int64_t row = 0; row < std::ssize(table_.lines); ++row) {
    if (!bad_.contains(row)) good.push_back(row);
  }
  const auto keep_good = [&](auto& values) {  // there may be none at all
    if (!values.empty()) keep_rows(values, values.size() / num_rows, good);
  };
  keep_good(std::get<Array<float>>(table_.features.values));
  keep_good(table_.ids);
  keep_good(table_.splits);
  keep_good(table_.groups);
  keep_good(table_.times);
  keep_good(table_.weights);
  keep_good(table_.lines);
  bad_.clear();
}

}  // namespace trainer::data
