// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/inspect.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/data/csv_format.h"
#include "trainer/data/data_file.h"
#include "trainer/data/table_source.h"
#include "trainer/duckdb/query.h"

#include "data/column_inspector.h"
#include "data/column_names.h"
#include "data/csv_cursor.h"
#include "data/csv_source.h"
#include "data/csv_text.h"
#include "data/error.h"
#include "data/report_reading.h"
#include "data/table_sql.h"

namespace trainer::data {
namespace {

/// Reads the first rows with a delimiter.
struct FirstRows {
  size_t num_fields = 0;  // of each; 0 where they differ or there are fewer than two
  char delimiter = ',';   // what the file itself says, else that one
};

FirstRows read_first_rows(const std::filesystem::path& path, char delimiter) {
  constexpr int kRows = 20;
  DataFile file(path);
  try {
    CsvText text(file);
    CsvCursor cursor({.file = path.string()}, text, {.delimiter = delimiter});
    FirstRows found{.delimiter = cursor.format().delimiter};
    for (int row = 0; row < kRows && cursor.begin_row(); ++row) {
      const size_t count = cursor.count_fields();
      if (row > 0 && count != found.num_fields) return {.delimiter = delimiter};
      found.num_fields = count;
    }
    if (found.num_fields < 2) found.num_fields = 0;
    return found;
  } catch (const Error&) {
    return {.delimiter = delimiter};  // quotes that end in the middle of a field: another delimiter
  }
}

char find_delimiter(const std::filesystem::path& path) {
  FirstRows best = read_first_rows(path, csv_delimiter("auto", path));
  for (const char delimiter : {',', ';', '\t', '|'}) {
    const FirstRows found = read_first_rows(path, delimiter);
    if (found.num_fields > best.num_fields) best = found;
  }
  return best.delimiter;
}

/// Reads a table whose format is known.
class TableInspector {
 public:
  explicit TableInspector(TableFacts& table) : table_(table) {}

  /// Says how its numbers are written.
  DecimalMarks read(const std::filesystem::path& path, const CsvFormat& format) {
    CsvSource source(path, source_files(path), format);
    const std::string location = source.find_header();
    table_.has_lines = source.is_text();
    table_.delimiter = source.cursor().format().delimiter;
    const std::vector<std::string>& names = source.read_names(location);
    require_several(names, location, table_.delimiter, "--delimiter ");
    columns_ = std::vector<ColumnInspector>(names.begin(), names.end());
    table_.num_rows = 0;
    const LongWork reading(kReading);
    for (; source.begin_row(); ++table_.num_rows) {
      if (table_.num_rows % kRowsPerReport == 0) {
        report_reading(source.bytes_read(), source.size_hint());
      }
      add_row(source);
    }
    if (table_.num_rows == 0) throw data_error(table_.file, "no data rows after the header");
    return marks_;
  }

  /// The mark between thousands that the numbers of a column need; NUL: none.
  char thousands(const CsvFormat& format) const {
    for (const ColumnInspector& column : columns_) {
      if (const char mark = column.thousands(format); mark != '\0') return mark;
    }
    return '\0';
  }

  /// Of what DuckDB reads: the columns of numbers, booleans, texts and times, as text.
  void read(const TableSql& sql, const CsvFormat& format) {
    duckdb::Query query(sql.select);
    std::vector<std::string> names;
    std::vector<duckdb::WantedColumn> wanted;
    for (size_t i = 0; i < query.columns().size(); ++i) {
      const duckdb::ResultColumn& column = query.columns()[i];
      names.push_back(column.name);
      if (column.type == duckdb::ColumnType::kOther) {
        unusable_.push_back({i, column});
        continue;
      }
      wanted.push_back({i, duckdb::CellType::kText});
      columns_.emplace_back(names.back());
    }
    require_good_names(sql.select.name, names);
    query.start(wanted);
    const LongWork reading(kReading);
    while (const std::optional<duckdb::Chunk> chunk = query.next()) {
      const double num_read = query.progress().value_or(0) * static_cast<double>(sql.num_bytes);
      report_reading(static_cast<uint64_t>(num_read), sql.num_bytes);
      for (size_t i = 0; i < wanted.size(); ++i) {
        for (int64_t row = 0; row < chunk->num_rows(); ++row) {
          columns_[i].add(chunk->text(i, row), table_.num_rows + row + 1, format, marks_);
        }
      }
      table_.num_rows += chunk->num_rows();
    }
    if (table_.num_rows == 0) throw data_error(sql.select.name, "no rows");
  }

  void finish() {
    table_.columns.reserve(columns_.size());
    for (ColumnInspector& column : columns_) table_.columns.push_back(column.take());
    for (const auto& [place, column] : unusable_) {  // in the order of the table
      ColumnFacts facts;
      facts.name = column.name;
      facts.unusable_type = column.type_name;
      table_.columns.insert(table_.columns.begin() + static_cast<std::ptrdiff_t>(place),
                            std::move(facts));
    }
  }

 private:
  void add_row(CsvSource& source) {
    CsvCursor& cursor = source.cursor();
    const int64_t line = table_.has_lines ? cursor.row_line() : cursor.row();
    size_t column = 0;
    for (; column < columns_.size() && cursor.in_row(); ++column) {
      columns_[column].add(cursor.next_field(), line, cursor.format(), marks_);
    }
    if (column == columns_.size() && !cursor.in_row()) return;
    throw data_error(cursor.location(), fmt::format("expected {} fields as in the header, got {}",
                                                    columns_.size(), cursor.count_fields()));
  }

  TableFacts& table_;
  std::vector<ColumnInspector> columns_;
  std::vector<std::pair<size_t, duckdb::ResultColumn>> unusable_;  // with their places
  DecimalMarks marks_;
};

// The format as far as it is known before the cells are read.
CsvFormat first_format(const TableSource& source, const InspectOptions& options) {
  const char decimal = options.decimal == "auto" ? '.' : options.decimal.front();
  const std::filesystem::path first = source_files(source.path).front();
  return {options.delimiter == "auto" ? find_delimiter(first)
                                      : csv_delimiter(options.delimiter, first, decimal),
          decimal, MissingValues(options.missing)};
}

}  // namespace

TableFacts inspect_table(const TableSource& source, const InspectOptions& options) {
  const std::string& path = source.path;
  TableFacts table;
  table.file = source_name(source);
  table.query = source.query;
  table.missing = options.missing;
  if (is_read_by_duckdb(source)) {
    table.has_lines = false;
    TableInspector inspector(table);
    inspector.read(table_sql(source), {.missing = MissingValues(options.missing)});
    inspector.finish();
    return table;
  }
  const bool finds_decimal = options.decimal == "auto";
  CsvFormat format = first_format(source, options);
  table.decimal = format.decimal;
  auto inspector = std::make_unique<TableInspector>(table);
  const DecimalMarks marks = inspector->read(path, format);
  const auto read_again = [&] {
    inspector = std::make_unique<TableInspector>(table);
    inspector->read(path, format);
  };
  format.delimiter = table.delimiter;
  if (finds_decimal && table.delimiter != ',' && marks.num_commas > 0 && marks.num_points == 0) {
    table.decimal = format.decimal = ',';
    read_again();
  }
  if (const char mark = inspector->thousands(format); mark != '\0') {
    table.thousands = format.thousands = mark;
    read_again();
  }
  inspector->finish();
  return table;
}

std::string unusable_reason(const std::string& type_name) {
  if (type_name == "JSON") return "its values are of several types, or none is there";
  return fmt::format("its type, {}, is neither a number nor a text", type_name);
}

std::vector<std::string> column_names(const TableSource& source, const InspectOptions& options) {
  if (is_read_by_duckdb(source)) {
    const duckdb::Query query(table_sql(source).select);
    std::vector<std::string> names;
    for (const auto& column : query.columns()) names.push_back(column.name);
    return names;
  }
  CsvSource text(source.path, source_files(source.path), first_format(source, options));
  return text.read_names(text.find_header());
}

}  // namespace trainer::data
