// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/inspect.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/table/source/csv_format.h"
#include "trainer/table/source/data_file.h"
#include "trainer/table/source/table_source.h"

#include "table/error.h"
#include "table/source/chunk.h"
#include "table/source/column_inspector.h"
#include "table/source/csv_cursor.h"
#include "table/source/report_reading.h"
#include "table/source/table_header.h"

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
  DecimalMarks read(ChunkSource& source) {
    const std::vector<WantedColumn> wanted = usable_columns(source);
    if (!source.has_types()) {
      table_.delimiter = source.format().delimiter;
      require_several(data::column_names(source), source.header_location(), table_.delimiter,
                      "--delimiter ");
    }
    source.start(wanted, ChunkSource::Pass::kAll);
    table_.num_rows = 0;
    const LongWork reading(kReading);
    ReadingProgress progress;
    for (Chunk chunk; source.next(chunk, std::numeric_limits<int64_t>::max());) {
      progress.add(chunk, source);
      add(chunk, source.format());
    }
    if (table_.num_rows == 0) {
      throw data_error(source.name(),
                       source.has_types() ? "no rows" : "no data rows after the header");
    }
    return marks_;
  }

  /// The mark between thousands that the numbers of a column need; NUL: none.
  char thousands(const CsvFormat& format) const {
    for (const ColumnInspector& column : columns_) {
      if (const char mark = column.thousands(format); mark != '\0') return mark;
    }
    return '\0';
  }

  void finish() {
    table_.columns.reserve(columns_.size());
    for (ColumnInspector& column : columns_) table_.columns.push_back(column.take());
    for (const auto& [index, column] : unusable_) {  // in the order of the table
      ColumnFacts facts;
      facts.name = column.name;
      facts.unusable_type = column.type_name;
      table_.columns.insert(table_.columns.begin() + static_cast<std::ptrdiff_t>(index),
                            std::move(facts));
    }
  }

 private:
  /// Those of numbers, booleans, texts and times; all of them as text.
  std::vector<WantedColumn> usable_columns(const ChunkSource& source) {
    std::vector<WantedColumn> wanted;
    for (std::size_t i = 0; i < source.columns().size(); ++i) {
      const SourceColumn& column = source.columns()[i];
      if (column.type == duckdb::ColumnType::kOther) {
        unusable_.emplace_back(i, column);
        continue;
      }
      wanted.push_back({i, CellType::kText});
      columns_.emplace_back(column.name);
    }
    return wanted;
  }

  void add(const Chunk& chunk, const CsvFormat& format) {
    if (!chunk.malformed.empty()) {
      const auto& [row, problem] = chunk.malformed.front();
      throw data_error(chunk.location(row), problem);
    }
    table_.has_lines = chunk.has_lines;
    table_.num_rows += chunk.num_rows;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::vector<std::string_view>& texts = chunk.columns[i].texts;
      for (std::size_t row = 0; row < texts.size(); ++row) {
        columns_[i].add(texts[row], chunk.lines[row], format, marks_);
      }
    }
  }

  TableFacts& table_;
  std::vector<ColumnInspector> columns_;
  std::vector<std::pair<std::size_t, SourceColumn>> unusable_;  // with their indices
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
  TableFacts table;
  table.file = source_name(source);
  table.query = source.query;
  table.missing = options.missing;
  TableSource known = source;
  known.format.missing = MissingValues(options.missing);
  const bool is_text = !is_read_by_duckdb(source);
  if (is_text) known.format = first_format(source, options);
  table.decimal = known.format.decimal;
  std::unique_ptr<TableInspector> inspector;
  const auto read = [&] {
    inspector = std::make_unique<TableInspector>(table);
    return inspector->read(*open_source(known));
  };
  const DecimalMarks marks = read();
  if (is_text) {
    known.format.delimiter = table.delimiter;
    if (options.decimal == "auto" && table.delimiter != ',' && marks.num_commas > 0 &&
        marks.num_points == 0) {
      table.decimal = known.format.decimal = ',';
      read();
    }
    if (const char mark = inspector->thousands(known.format); mark != '\0') {
      table.thousands = known.format.thousands = mark;
      read();
    }
  }
  inspector->finish();
  return table;
}

std::string unusable_reason(const std::string& type_name) {
  if (type_name == "JSON") return "its values are of several types, or none is there";
  return fmt::format("its type, {}, is neither a number nor a text", type_name);
}

std::vector<std::string> column_names(const TableSource& source, const InspectOptions& options) {
  TableSource known = source;
  if (!is_read_by_duckdb(source)) known.format = first_format(source, options);
  return column_names(*open_source(known));
}

}  // namespace trainer::data
