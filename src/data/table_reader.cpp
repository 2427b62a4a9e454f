// SPDX-License-Identifier: Apache-2.0
#include "data/table_reader.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "trainer/core/format.h"

#include "data/error.h"

namespace trainer::data {
namespace {

/// Takes the rows out and leaves their memory there.
void clear_rows(Table& table) {
  Table empty;
  std::swap(empty.features.values, table.features.values);
  if (!std::holds_alternative<Array<float>>(empty.features.values)) {
    empty.features.values = Array<float>();
  }
  std::get<Array<float>>(empty.features.values).clear();
  const auto take_memory = [](auto& from, auto& to) {
    from.clear();
    std::swap(from, to);
  };
  take_memory(table.lines, empty.lines);
  take_memory(table.targets, empty.targets);
  take_memory(table.ids, empty.ids);
  table = std::move(empty);
}

}  // namespace

void TableReader::clear(Table& table) const {
  clear_rows(table);
  table.file = name();
  table.target_names = targets_;
  if (expects_labels_) table.targets.expect_labels();
  table.id_names = id_names();
}

bool TableReader::next(Table& table, int64_t max_rows, std::vector<BadRow>* bad) {
  clear(table);
  table.num_without_target = num_without_target_;
  table.num_weightless = num_weightless_;
  const int64_t num_bad = read(table, max_rows, bad);
  num_without_target_ = table.num_without_target;
  num_weightless_ = table.num_weightless;
  const bool has_more = !table.lines.empty() || num_bad > 0;
  has_rows_ = has_rows_ || has_more;
  if (!has_more) require_rows();
  return has_more;
}

bool TableReader::take(int64_t max_rows, TablePiece& piece) {
  clear(piece.table);
  piece.bad.clear();
  const int64_t num_bad = read(piece.table, max_rows, piece.collects_bad ? &piece.bad : nullptr);
  if (num_bad > 0 || !piece.table.lines.empty()) return true;
  read(piece);  // rows without a target at the end
  return false;
}

void TableReader::read(TablePiece& piece) {
  read_taken(piece);
  const std::lock_guard lock(mutex_);
  num_without_target_ += piece.table.num_without_target;
  num_weightless_ += piece.table.num_weightless;
  has_rows_ = has_rows_ || !piece.table.lines.empty() || !piece.bad.empty();
}

void TableReader::require_rows() const {
  if (has_rows_) return;
  const int64_t num_left_out = num_without_target_ + num_weightless_;
  if (num_left_out == 0) throw data_error(name(), "no data rows after the header");
  throw data_error(name(),
                   fmt::format("none of the {} rows has {}", with_thousands(num_left_out),
                               num_weightless_ == 0       ? "a target"
                               : num_without_target_ == 0 ? "a weight above 0"
                                                          : "a target and a weight above 0"));
}

std::vector<std::string> TableReader::id_names() const {
  std::vector<std::string> names;
  for (const HeaderColumn& column : header_.columns) {
    if (column.role != Role::kId && !column.kept_index) continue;
    const size_t index = column.kept_index.value_or(column.index);
    names.resize(std::max(names.size(), index + 1));
    names[index] = column.name;
  }
  return names;
}

}  // namespace trainer::data
