// SPDX-License-Identifier: Apache-2.0
#include "data/query_reader.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/checksum.h"
#include "trainer/core/format.h"
#include "trainer/data/inspect.h"
#include "trainer/duckdb/query.h"

#include "data/chunk_reader.h"
#include "data/column_names.h"
#include "data/error.h"
#include "data/offset.h"
#include "data/report_reading.h"
#include "data/table_builder.h"
#include "data/table_sql.h"
#include "data/trained_header.h"

namespace trainer::data {
namespace {

using duckdb::CellType;
using duckdb::Chunk;
using duckdb::ColumnType;
using duckdb::ResultColumn;

std::vector<std::string> names_of(const std::vector<ResultColumn>& columns) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const ResultColumn& column : columns) names.push_back(column.name);
  return names;
}

// The type decides where no option does.
void decide(TableHeader& header, size_t index, const ResultColumn& result) {
  HeaderColumn& column = header.columns[index];
  if (result.type == ColumnType::kTime && !header.date_parts.empty()) {
    make_date(header, index);
    return;
  }
  switch (result.type) {
    case ColumnType::kNumber:
      break;
    case ColumnType::kBoolean:
    case ColumnType::kText:
      column.role = Role::kText;
      column.kind = ColumnKind::kCategorical;
      break;
    case ColumnType::kTime:
    case ColumnType::kOther:
      column.role = Role::kSkipped;
      column.kind = ColumnKind::kIgnored;
      column.reason = unusable_reason(result.type_name);
  }
}

void require_usable(const HeaderColumn& column, const ResultColumn& result,
                    const std::string& file) {
  if (column.role == Role::kSkipped || result.type != ColumnType::kOther) return;
  throw data_error(file, fmt::format("column {}: expected a number or a text, got the type {}; "
                                     "convert it with a query (data.query)",
                                     in_quotes(column.name), result.type_name));
}

class QueryReader : public TableReader {
 public:
  QueryReader(const TableSource& source, const ColumnOptions& options)
      : sql_(table_sql(source)), format_({.missing = source.format.missing}), query_(sql_.select) {
    header_ = make_header(sql_.select.name, checked_names(), options);
    targets_ = options.targets;
    max_categories_ = options.max_categories;
    expects_labels_ = options.expects_labels;
    for (size_t i = 0; i < header_.columns.size(); ++i) {
      if (!header_.columns[i].is_declared) decide(header_, i, query_.columns()[i]);
    }
    if (options.with_offsets != nullptr) take_trained(*options.with_offsets, header_);
    count_features(header_);
    start();
    if (options.with_offsets == nullptr) {
      choose_offsets();
    }
  }

  QueryReader(const TableSource& source, const TrainedColumns& trained)
      : sql_(table_sql(source)), format_({.missing = source.format.missing}), query_(sql_.select) {
    header_ = make_trained_header(sql_.select.name, checked_names(), trained, std::nullopt);
    targets_.assign(trained.targets.begin(), trained.targets.end());
    start();
  }

  std::vector<std::string> id_types() const override {
    std::vector<std::string> types(id_names().size());
    for (const Reading& reading : readings_) {
      if (reading.use != Reading::Use::kId) continue;
      const ResultColumn& column = query_.columns()[reading.column];
      types[reading.place] = column.type == ColumnType::kOther ? "VARCHAR" : column.type_name;
    }
    return types;
  }

  uint64_t bytes_read() const override {
    return static_cast<uint64_t>(query_.progress().value_or(0) *
                                 static_cast<double>(sql_.num_bytes));
  }
  uint64_t size_hint() const override { return sql_.num_bytes; }

  int64_t num_rows_hint() const override {
    if (sql_.count.sql.empty()) return 0;
    duckdb::Query count(sql_.count);
    count.start({{0, CellType::kNumber}});
    const std::optional<Chunk> chunk = count.next();
    return chunk ? static_cast<int64_t>(chunk->numbers(0)[0]) : 0;
  }
  std::vector<Fingerprint> fingerprints() override {
    if (sql_.files.empty()) return {cells_};
    std::vector<Fingerprint> files;
    files.reserve(sql_.files.size());
    for (const std::string& file : sql_.files) files.push_back(fingerprint(file));
    return files;
  }

 protected:
  const std::string& name() const override { return sql_.select.name; }

  int64_t read(Table& table, int64_t max_rows, std::vector<BadRow>* bad) override {
    table.has_lines = false;
    TableBuilder builder(header_, format_, max_categories_, table);
    ChunkReader reader(header_, readings_, format_, builder, table);
    const bool reads_all = max_rows == std::numeric_limits<int64_t>::max();
    while (std::ssize(table.lines) < max_rows && next_chunk()) {
      if (reads_all) report_reading(bytes_read(), size_hint());
      const Chunk& chunk = chunks_.front();
      const int64_t begin = next_row_;
      next_row_ = std::min(chunk.num_rows(), begin + max_rows - std::ssize(table.lines));
      reader.read(chunk, begin, next_row_, num_rows_ + 1);
      num_rows_ += next_row_ - begin;
      if (!reader.bad().empty() && bad == nullptr) fail(table, *reader.bad().begin());
    }
    for (const auto& [row, error] : reader.bad()) {
      bad->push_back({table.lines[static_cast<size_t>(row)], text_of(error)});
    }
    const int64_t num_bad = std::ssize(reader.bad());
    reader.remove_bad();
    builder.finish();
    return num_bad;
  }

 private:
  std::vector<std::string> checked_names() const {
    std::vector<std::string> names = names_of(query_.columns());
    require_good_names(sql_.select.name, names);
    return names;
  }

  void start() {
    for (size_t i = 0; i < header_.columns.size(); ++i) {
      require_usable(header_.columns[i], query_.columns()[i], sql_.select.name);
    }
    readings_ = plan_readings(header_, query_.columns());
    std::vector<duckdb::WantedColumn> wanted;
    wanted.reserve(readings_.size());
    for (const Reading& reading : readings_) wanted.push_back({reading.column, reading.type});
    query_.start(wanted);
  }

  /// Goes on until the first of the chunks has a row that was not read yet; false at the end.
  bool next_chunk() {
    while (!chunks_.empty() && next_row_ == chunks_.front().num_rows()) {
      chunks_.pop_front();
      next_row_ = 0;
    }
    return !chunks_.empty() || fetch();
  }

  bool fetch() {
    std::optional<Chunk> chunk = query_.next();
    if (!chunk) return false;
    if (sql_.files.empty()) add_to_fingerprint(*chunk);
    chunks_.push_back(std::move(*chunk));
    return true;
  }

  // Of the cells: a query has no file to look at.
  void add_to_fingerprint(const Chunk& chunk) {
    const auto add = [&](const void* data, size_t size) {
      cells_.crc32 = crc32({static_cast<const std::byte*>(data), size}, cells_.crc32);
      cells_.num_bytes += size;
    };
    for (size_t i = 0; i < readings_.size(); ++i) {
      for (int64_t row = 0; row < chunk.num_rows(); ++row) {
        const bool is_null = chunk.is_null(i, row);
        add(&is_null, sizeof(is_null));
        if (is_null) continue;
        if (readings_[i].type == CellType::kNumber) {
          add(chunk.numbers(i) + row, sizeof(double));
        } else {
          const std::string_view cell = chunk.text(i, row);
          add(cell.data(), cell.size());
        }
      }
    }
  }

  /// From the first rows, which wait for being read; as many as of a CSV file.
  void choose_offsets() {
    std::vector<OffsetSample> samples(readings_.size());
    int64_t num_rows = 0;
    const auto is_open = [&](size_t i) {
      return readings_[i].type == CellType::kNumber && (samples[i].empty() || samples[i].is_open());
    };
    const std::optional<size_t> weight = weight_reading(readings_);
    size_t first_open = 0;  // what is known of a column stays known
    const auto are_enough = [&] {
      while (first_open < samples.size() && !is_open(first_open)) ++first_open;
      return num_rows >= kMaxSampleRows ||
             (num_rows >= kMinSampleRows && first_open == samples.size());
    };
    while (!are_enough() && fetch()) {
      const Chunk& chunk = chunks_.back();
      for (int64_t row = 0; row < chunk.num_rows() && !are_enough(); ++row, ++num_rows) {
        if (weight && has_weight_zero(chunk, *weight, row, format_)) continue;
        add_to_samples(chunk, row, samples);
      }
    }
    for (size_t i = 0; i < readings_.size(); ++i) {
      if (readings_[i].type != CellType::kNumber) continue;
      header_.offsets[readings_[i].column] = choose_offset(samples[i].take());
    }
  }

  void add_to_samples(const Chunk& chunk, int64_t row, std::vector<OffsetSample>& samples) const {
    const size_t max_values = max_sample_values(readings_.size());
    for (size_t i = 0; i < readings_.size(); ++i) {
      if (readings_[i].type != CellType::kNumber || chunk.is_null(i, row)) continue;
      samples[i].add(chunk.numbers(i)[row], max_values);
    }
  }

  std::string text_of(const CellError& error) const {
    return fmt::format("column {}: {}", in_quotes(header_.columns[error.column].name),
                       error.problem);
  }

  [[noreturn]] void fail(const Table& table,
                         const std::pair<const int64_t, CellError>& problem) const {
    throw data_error(
        fmt::format("{}: row {}", table.file, table.lines[static_cast<size_t>(problem.first)]),
        text_of(problem.second));
  }

  TableSql sql_;
  CsvFormat format_;  // of cells that come as text
  duckdb::Query query_;
  std::vector<Reading> readings_;
  std::deque<Chunk> chunks_;  // that were fetched
  int64_t next_row_ = 0;      // of the first of them
  int64_t num_rows_ = 0;      // read so far
  Fingerprint cells_{.path = "data.query"};
};

}  // namespace

std::unique_ptr<TableReader> open_query(const TableSource& source, const ColumnOptions& options) {
  return std::make_unique<QueryReader>(source, options);
}

std::unique_ptr<TableReader> open_query(const TableSource& source, const TrainedColumns& trained) {
  return std::make_unique<QueryReader>(source, trained);
}

}  // namespace trainer::data
