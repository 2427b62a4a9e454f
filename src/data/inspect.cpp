// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/inspect.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "trainer/data/csv_format.h"
#include "trainer/data/data_file.h"
#include "trainer/data/table_source.h"
#include "trainer/duckdb/query.h"

#include "data/column_names.h"
#include "data/csv_cursor.h"
#include "data/csv_source.h"
#include "data/csv_text.h"
#include "data/error.h"
#include "data/number_text.h"
#include "data/report_reading.h"
#include "data/table_sql.h"
#include "data/time_text.h"

namespace trainer::data {
namespace {

constexpr size_t kMaxLabelBytes = 1000;

/// How many numbers of a table can only be read with one of the decimal marks.
struct DecimalMarks {
  int64_t num_commas = 0;
  int64_t num_points = 0;
};

/// Collects the facts of one column, cell by cell.
class Collector {
 public:
  explicit Collector(std::string name) { facts_.name = std::move(name); }

  void add(std::string_view field, int64_t line, const CsvFormat& format, DecimalMarks& marks) {
    if (is_missing(field, format)) {
      ++facts_.num_missing;
      return;
    }
    if (facts_.num_values() == 0) facts_.first_value = field;
    const std::optional<double> number = number_in(field, format.decimal);
    if (number && std::isfinite(*number)) {
      add_number(*number);
      if (std::trunc(*number) != *number && !may_be_thousands(field)) ++marks.num_points;
    } else {
      add_text(field, line, format, marks);
    }
    count_different(field);
  }

  ColumnFacts take() {
    if (facts_.num_numbers > 0 && !facts_.is_whole) facts_.num_distinct = 0;
    if (facts_.num_distinct > kMaxLabels || !facts_.is_whole) labels_.clear();
    facts_.labels.resize(labels_.size());
    for (const auto& [text, label] : labels_) facts_.labels[label.index] = {text, label.count};
    facts_.is_sequential = facts_.is_sequential && facts_.is_whole && facts_.num_numbers > 0;
    return std::move(facts_);
  }

 private:
  struct Label {
    size_t index;
    int64_t count;
  };

  // "1.234": where the comma is the decimal mark, 1234.
  static bool may_be_thousands(std::string_view field) {
    constexpr size_t kThousand = 3;
    const size_t point = field.find('.');
    return point != std::string_view::npos && field.size() - point - 1 == kThousand;
  }

  void add_number(double number) {
    const bool is_first = facts_.num_numbers == 0;
    if (is_first || number < facts_.min) {
      facts_.next_min = is_first ? number : facts_.min;
      facts_.num_min = 1;
    } else if (number == facts_.min) {
      ++facts_.num_min;
    } else if (facts_.next_min == facts_.min || number < facts_.next_min) {
      facts_.next_min = number;
    }
    facts_.is_whole = facts_.is_whole && std::trunc(number) == number;
    facts_.is_sequential = facts_.is_sequential && (is_first || number == last_ + 1);
    facts_.min = is_first ? number : std::min(facts_.min, number);
    facts_.max = is_first ? number : std::max(facts_.max, number);
    last_ = number;
    ++facts_.num_numbers;
  }

  void add_text(std::string_view field, int64_t line, const CsvFormat& format,
                DecimalMarks& marks) {
    const std::string plain = rewritten_number(field, format.decimal);
    if (!plain.empty()) {
      ++facts_.num_with_commas;
      if (field.find('.') > field.find(',') && field.find('.') != std::string_view::npos) {
        ++marks.num_points;  // 1,234.5
      } else if (plain.find('.') != std::string::npos) {
        ++marks.num_commas;  // 39,1 or 1.234,5
      }
    }
    add_odd(field);
    if (facts_.num_dates == facts_.num_texts && parse_time(field)) ++facts_.num_dates;
    if (facts_.num_texts++ > 0) return;
    facts_.first_non_number = field;
    facts_.first_non_number_line = line;
    facts_.without_commas = plain;
  }

  void add_odd(std::string_view field) {
    if (has_many_texts_) return;
    auto& texts = facts_.odd_texts;
    const auto found = std::find_if(texts.begin(), texts.end(),
                                    [&](const auto& text) { return text.first == field; });
    if (found != texts.end()) {
      ++found->second;
    } else if (texts.size() < static_cast<size_t>(kMaxOddTexts)) {
      texts.emplace_back(field, 1);
    } else {
      has_many_texts_ = true;
      texts.clear();
    }
  }

  // By hashes, so that a column of a million long texts does not fill the memory.
  void count_different(std::string_view field) {
    const size_t hash = std::hash<std::string_view>()(field);
    if (facts_.is_whole && facts_.num_distinct < kMaxDistinct) {
      const bool is_new = different_.insert(hash).second;
      facts_.num_distinct += is_new ? 1 : 0;
      facts_.has_repeats = facts_.has_repeats || !is_new;
    } else if (facts_.is_whole && !facts_.has_repeats) {
      facts_.has_repeats = different_.contains(hash);
    }
    if (facts_.is_whole && facts_.num_distinct <= kMaxLabels) {
      const std::string text(field.substr(0, kMaxLabelBytes));
      ++labels_.try_emplace(text, Label{.index = labels_.size(), .count = 0}).first->second.count;
    }
  }

  ColumnFacts facts_;
  double last_ = 0;
  bool has_many_texts_ = false;
  std::unordered_set<size_t> different_;
  std::unordered_map<std::string, Label> labels_;
};

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
    columns_ = std::vector<Collector>(names.begin(), names.end());
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

  /// Of what DuckDB reads: the columns of numbers, booleans, texts and times, as text.
  void read(const TableSql& sql, const CsvFormat& format) {
    duckdb::Query query(sql.select);
    std::vector<std::string> names;
    std::vector<duckdb::WantedColumn> wanted;
    for (size_t i = 0; i < query.columns().size(); ++i) {
      names.push_back(query.columns()[i].name);
      if (query.columns()[i].type == duckdb::ColumnType::kOther) continue;
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
    for (Collector& column : columns_) table_.columns.push_back(column.take());
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
  std::vector<Collector> columns_;
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
  TableInspector inspector(table);
  const DecimalMarks marks = inspector.read(path, format);
  if (finds_decimal && table.delimiter != ',' && marks.num_commas > 0 && marks.num_points == 0) {
    table.decimal = format.decimal = ',';
    TableInspector second(table);
    second.read(path, format);
    second.finish();
  } else {
    inspector.finish();
  }
  return table;
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
