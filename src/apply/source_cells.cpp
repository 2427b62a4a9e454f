// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/source_cells.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/table/source/read_table.h"
#include "trainer/table/source/table_reader.h"

namespace trainer::apply {
namespace {

/// The columns of the file that a model uses, first ids and then features, all declared as ids so
/// that their cells are read as unchanged text.
std::vector<data::Column> columns_as_ids(const data::Schema& schema, std::size_t& num_ids) {
  std::vector<data::Column> columns;
  const auto add = [&](const std::string& name) {
    const auto has_name = [&](const data::Column& column) { return column.name == name; };
    if (std::any_of(columns.begin(), columns.end(), has_name)) return;
    columns.emplace_back();
    columns.back().name = name;
    columns.back().kind = data::ColumnKind::kId;
  };
  for (const data::Column& column : schema.columns) {
    if (column.kind == data::ColumnKind::kId) add(column.name);
  }
  num_ids = columns.size();
  for (const data::Column& column : schema.columns) {
    if (data::is_feature(column)) add(data::source_of(column));
  }
  return columns;
}

bool can_be_read_again(const data::TableSource& source) {
  std::error_code ignored;
  if (!source.query.empty()) return true;
  return source.path != "-" && !std::filesystem::is_fifo(source.path, ignored);
}

}  // namespace

const std::string* SourceCells::find(int64_t row, const std::string& column) const {
  const auto found = rows.find(row);
  const auto name = std::find(names.begin(), names.end(), column);
  if (found == rows.end() || name == names.end()) return nullptr;
  return &found->second[static_cast<std::size_t>(name - names.begin())];
}

SourceCells source_cells(const Model& model, const data::TableSource& source,
                         std::span<const int64_t> rows) {
  constexpr int64_t kRowsAtOnce = 4096;
  SourceCells cells{.has_lines = data::is_one_text(source), .names = {}, .rows = {}};
  if (model.schema.columns.empty() || !can_be_read_again(source)) return cells;
  const std::set<int64_t> wanted(rows.begin(), rows.end());
  const std::vector<data::Column> columns = columns_as_ids(model.schema, cells.num_ids);
  data::TableReader pieces(
      source, {.columns = columns, .targets = {}, .ids = data::TrainedColumns::Ids::kKept});
  cells.names = pieces.id_names();
  const auto is_there = [&](const data::Column& column) {
    return std::find(cells.names.begin(), cells.names.end(), column.name) != cells.names.end();
  };
  const auto end_of_ids = columns.begin() + static_cast<std::ptrdiff_t>(cells.num_ids);
  cells.num_ids = static_cast<std::size_t>(std::count_if(columns.begin(), end_of_ids, is_there));
  const std::size_t width = cells.names.size();
  data::Table table;
  while (cells.rows.size() < wanted.size() && pieces.next(table, kRowsAtOnce)) {
    for (std::size_t row = 0; row < table.lines.size(); ++row) {
      if (!wanted.contains(table.lines[row])) continue;
      const auto begin = table.ids.begin() + static_cast<std::ptrdiff_t>(row * width);
      std::vector<std::string> of_row(begin, begin + static_cast<std::ptrdiff_t>(width));
      for (std::string& cell : of_row) {
        if (data::is_missing(cell, source.format)) cell = "missing";
      }
      cells.rows.emplace(table.lines[row], std::move(of_row));
    }
  }
  return cells;
}

SourceCells own_cells(const Model& model, const std::string& split, std::span<const int64_t> rows) {
  const config::DataConfig& data = model.config().data;
  if (!config::is_table(data.source)) return {};
  if (split == "test" && !data.test_path.empty()) {
    return source_cells(model, data::file_source(data, data.test_path), rows);
  }
  if (split == "validation" && !data.validation_path.empty()) {
    return source_cells(model, data::file_source(data, data.validation_path), rows);
  }
  SourceCells cells = source_cells(model, data::training_source(data), rows);
  cells.has_lines = data::has_lines(data);
  return cells;
}

}  // namespace trainer::apply
