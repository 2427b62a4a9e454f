// SPDX-License-Identifier: Apache-2.0
#include "data/chunk_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

#include "data/array_rows.h"

namespace trainer::data {
namespace {

using duckdb::CellType;
using duckdb::Chunk;
using duckdb::ColumnType;
using duckdb::ResultColumn;

Reading::Use use_of(Role role) {
  switch (role) {
    case Role::kTarget:
      return Reading::Use::kTarget;
    case Role::kSplit:
      return Reading::Use::kSplit;
    case Role::kGroup:
      return Reading::Use::kGroup;
    case Role::kWeight:
      return Reading::Use::kWeight;
    case Role::kId:
      return Reading::Use::kId;
    case Role::kNumber:
    case Role::kText:
    case Role::kDate:
    case Role::kSkipped:
      break;
  }
  return Reading::Use::kFeature;
}

// A target of a type whose texts are known from its numbers.
void read_as_number(Reading& target, const ResultColumn& result) {
  constexpr std::array<std::string_view, 5> kWhole = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT",
                                                      "USMALLINT"};
  const bool is_whole = std::find(kWhole.begin(), kWhole.end(), result.type_name) != kWhole.end();
  if (!is_whole && result.type_name != "DOUBLE") return;
  target.type = CellType::kNumber;
  target.written = is_whole ? TargetCells::Written::kWhole : TargetCells::Written::kFloating;
}

}  // namespace

std::vector<Reading> plan_readings(const TableHeader& header,
                                   const std::vector<ResultColumn>& results) {
  std::vector<Reading> readings;
  size_t num_features = 0;
  for (size_t i = 0; i < header.columns.size(); ++i) {
    const HeaderColumn& column = header.columns[i];
    if (column.is_time) readings.push_back({i, Reading::Use::kTime});
    if (column.kept_index) {
      readings.push_back({i, Reading::Use::kId, CellType::kText, *column.kept_index});
    }
    if (column.role == Role::kSkipped) continue;
    const Reading::Use use = use_of(column.role);
    Reading reading{i, use, CellType::kText,
                    use == Reading::Use::kFeature ? num_features : column.index};
    num_features += num_cells(column);
    const bool is_number = column.role == Role::kNumber || column.role == Role::kDate;
    if (is_number && results[i].type != ColumnType::kText) {
      reading.type = CellType::kNumber;
    }
    if (column.role == Role::kTarget) read_as_number(reading, results[i]);
    readings.push_back(reading);
  }
  std::stable_partition(readings.begin(), readings.end(), [](const Reading& reading) {
    return reading.use == Reading::Use::kTarget;
  });
  return readings;
}

void ChunkReader::read(const Chunk& chunk, int64_t begin, int64_t end, int64_t first_number) {
  chunk_ = &chunk;
  first_ = table_.lines.size();
  choose_rows(begin, end, first_number);
  const size_t num_rows = table_.lines.size();
  // A cell that is not written is bad, and its row is removed.
  std::get<Array<float>>(table_.features.values)
      .resize_for_overwrite(num_rows * header_.num_features);
  table_.targets.resize(num_rows * table_.target_names.size());
  table_.ids.resize(num_rows * table_.id_names.size());
  for (size_t i = 0; i < readings_.size(); ++i) read_column(readings_[i], i);
}

void ChunkReader::remove_bad() {
  if (bad_.empty()) return;
  const size_t num_rows = table_.lines.size();
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
}

bool has_weight_zero(const Chunk& chunk, size_t in_chunk, int64_t row, const CsvFormat& format) {
  const std::optional<double> number = number_in(chunk.text(in_chunk, row), format);
  return number && static_cast<float>(*number) == 0;
}

std::optional<size_t> weight_reading(const std::vector<Reading>& readings) {
  for (size_t i = 0; i < readings.size(); ++i) {
    if (readings[i].use == Reading::Use::kWeight) return i;
  }
  return std::nullopt;
}

void ChunkReader::choose_rows(int64_t begin, int64_t end, int64_t first_number) {
  const std::optional<size_t> weight = weight_reading(readings_);
  rows_.clear();
  for (int64_t row = begin; row < end; ++row) {
    if (weight && has_weight_zero(*chunk_, *weight, row, format_)) {
      ++table_.num_weightless;
      continue;
    }
    if (header_.drops_rows_without_target && lacks_target(row)) {
      ++table_.num_without_target;
      continue;
    }
    rows_.push_back(row);
    table_.lines.push_back(first_number + row - begin);
  }
}

bool ChunkReader::lacks_cell(size_t in_chunk, int64_t row) const {
  if (readings_[in_chunk].type == CellType::kText) {
    return is_missing(chunk_->text(in_chunk, row), format_);
  }
  const double number = chunk_->numbers(in_chunk)[row];
  if (chunk_->is_null(in_chunk, row) || format_.missing.contains(number)) return true;
  return std::isnan(number) && is_missing("nan", format_);
}

bool ChunkReader::lacks_target(int64_t row) const {
  for (size_t i = 0; i < table_.target_names.size(); ++i) {
    if (lacks_cell(i, row)) return true;
  }
  return false;
}

// Calls take(i, row) for the i-th row that is read; a bad cell does not end it.
template <class Take>
void ChunkReader::for_each_row(Take take) {
  for (size_t i = 0; i < rows_.size();) {
    try {
      for (; i < rows_.size(); ++i) take(i, rows_[i]);
    } catch (const CellError& error) {
      bad_.emplace(static_cast<int64_t>(first_ + i), error);
      ++i;
    }
  }
}

// Calls take(i, cell) with a number, or with a text, which is empty where there is none.
template <class Take>
void ChunkReader::for_each_cell(const Reading& reading, size_t in_chunk, Take take) {
  if (reading.type == CellType::kText) {
    for_each_row([&](size_t i, int64_t row) { take(i, chunk_->text(in_chunk, row)); });
    return;
  }
  const double* numbers = chunk_->numbers(in_chunk);
  for_each_row([&](size_t i, int64_t row) {
    if (chunk_->is_null(in_chunk, row)) {
      take(i, std::string_view());
    } else {
      take(i, numbers[row]);
    }
  });
}

void ChunkReader::read_column(const Reading& reading, size_t in_chunk) {
  const size_t column = reading.column;
  // Gives `values` `[num_rows, width]` what `take` makes of a cell.
  const auto read_into = [&](auto& values, size_t width, auto take) {
    values.resize(table_.lines.size() * width);
    for_each_row([&](size_t i, int64_t row) {
      values[(first_ + i) * width + reading.place] = take(chunk_->text(in_chunk, row));
    });
  };
  switch (reading.use) {
    case Reading::Use::kFeature:
      read_feature(reading, in_chunk);
      break;
    case Reading::Use::kTarget:
      read_target(reading, in_chunk);
      break;
    case Reading::Use::kId:
      read_into(table_.ids, table_.id_names.size(), [](std::string_view cell) { return cell; });
      break;
    case Reading::Use::kSplit:
      read_into(table_.splits, 1,
                [&](std::string_view cell) { return builder_.split(column, cell); });
      break;
    case Reading::Use::kGroup:
      read_into(table_.groups, 1,
                [&](std::string_view cell) { return builder_.group(column, cell); });
      break;
    case Reading::Use::kWeight:
      read_into(table_.weights, 1,
                [&](std::string_view cell) { return builder_.weight(column, cell); });
      break;
    case Reading::Use::kTime:
      read_into(table_.times, 1,
                [&](std::string_view cell) { return builder_.time(column, cell); });
      break;
  }
}

void ChunkReader::read_target(const Reading& reading, size_t in_chunk) {
  const size_t width = table_.target_names.size();
  for_each_cell(reading, in_chunk, [&](size_t i, auto value) {
    const size_t cell = (first_ + i) * width + reading.place;
    if constexpr (std::is_same_v<decltype(value), double>) {
      builder_.target(reading.column, value, reading.written, cell);
    } else {
      builder_.target(reading.column, value, cell);
    }
  });
}

// Those of all rows that are read, if these follow each other and none is null.
std::span<const double> ChunkReader::plain_numbers(const Reading& reading, size_t in_chunk) const {
  const auto num_rows = static_cast<int64_t>(rows_.size());
  if (reading.type != CellType::kNumber || chunk_->may_have_nulls(in_chunk)) return {};
  if (rows_.empty() || rows_.back() - rows_.front() + 1 != num_rows) return {};
  return {chunk_->numbers(in_chunk) + rows_.front(), rows_.size()};
}

void ChunkReader::read_feature(const Reading& reading, size_t in_chunk) {
  const size_t column = reading.column;
  const size_t width = header_.num_features;
  float* features =
      std::get<Array<float>>(table_.features.values).data() + first_ * width + reading.place;
  switch (header_.columns[column].role) {
    case Role::kDate:
      for_each_cell(reading, in_chunk, [&](size_t i, auto cell) {
        builder_.date(column, cell, features + i * width);
      });
      break;
    case Role::kNumber:
      if (const std::span<const double> plain = plain_numbers(reading, in_chunk);
          !plain.empty() && builder_.numbers(column, plain, features, width)) {
        break;
      }
      for_each_cell(reading, in_chunk, [&](size_t i, auto cell) {
        features[i * width] = builder_.number(column, cell);
      });
      break;
    case Role::kText:
      for_each_row([&](size_t i, int64_t row) {
        features[i * width] = builder_.category(column, chunk_->text(in_chunk, row));
      });
      break;
    case Role::kTarget:
    case Role::kSkipped:
    case Role::kSplit:
    case Role::kGroup:
    case Role::kWeight:
    case Role::kId:
      break;  // no feature
  }
}

}  // namespace trainer::data
