// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/source_cells.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/labelled_rows.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/table/row_checks.h"
#include "trainer/table/source/npy.h"
#include "trainer/table/source/table_reader.h"

#include "apply/rows.h"

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

namespace {

constexpr int64_t kRowsAtOnce = 4096;

/// Searches batches of rows for the row with a line or number.
class RowSearch {
 public:
  RowSearch(std::string file, bool has_lines, int64_t number)
      : file_(std::move(file)), what_(has_lines ? "line" : "row"), number_(number) {}

  std::optional<FoundRow> look(const data::Matrix& features, const Array<int64_t>& numbers) {
    for (const int64_t number : numbers) {
      first_ = std::min(first_, number);
      last_ = std::max(last_, number);
    }
    const auto found = std::find(numbers.begin(), numbers.end(), number_);
    if (found == numbers.end()) return std::nullopt;
    const std::array<int64_t, 1> row = {found - numbers.begin()};
    return FoundRow{fmt::format("{} {} of {}", what_, with_thousands(number_), file_),
                    data::take_rows(features, row)};
  }

  [[noreturn]] void fail() const {
    const bool is_line = what_ == "line";
    throw Error(ErrorKind::kUsage,
                fmt::format("--row: expected {} of {}{}, from {} to {}, got {}",
                            is_line ? "a line" : "the number of a row", file_,
                            is_line ? " at which a row begins" : "", with_thousands(first_),
                            with_thousands(last_), with_thousands(number_)));
  }

 private:
  std::string file_;
  std::string what_;
  int64_t number_;
  int64_t first_ = std::numeric_limits<int64_t>::max();
  int64_t last_ = 0;
};

/// The name of the run's own data in messages: "penguins.csv"; only tables have a name.
std::string own_name(const config::DataConfig& data) {
  if (!config::is_table(data.source)) return "the data of the run";
  const std::string name = data::source_name(data::training_source(data));
  return data.path.empty() ? name : std::filesystem::path(name).filename().string();
}

}  // namespace

FoundRow find_row(const Model& model, const data::TableSource& source, int64_t number) {
  const bool has_lines = data::is_one_text(source) && !data::is_npy(source.path) &&
                         (!model.schema.columns.empty() || !is_idx(source.path));
  RowSearch search(data::source_name(source), has_lines, number);
  const std::unique_ptr<RowSource> rows = open_rows(model, {.data = source});
  for (Rows piece; rows->next(kRowsAtOnce, piece);) {
    if (auto found = search.look(piece.features, piece.lines)) {
      found->cells = source_cells(model, source, {&number, 1});
      return std::move(*found);
    }
  }
  search.fail();
}

FoundRow find_own_row(const Model& model, int64_t number) {
  const config::DataConfig& data = model.config().data;
  RowSearch search(own_name(data), data::has_lines(data), number);
  const data::Datasets datasets = own_datasets(model);
  for (const auto& [split, rows] :
       {std::pair("test", &datasets.test), std::pair("validation", &datasets.validation),
        std::pair("training", &datasets.train)}) {
    if (auto found = search.look(rows->features, rows->source_lines)) {
      data::require_intact(*rows);
      found->name += fmt::format(" ({} split)", split);
      found->cells = own_cells(model, split, {&number, 1});
      return std::move(*found);
    }
  }
  search.fail();
}

}  // namespace trainer::apply
