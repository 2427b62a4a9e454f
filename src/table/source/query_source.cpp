// SPDX-License-Identifier: Apache-2.0
#include "table/source/query_source.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "trainer/base/io/checksum.h"

#include "table/source/source_files.h"
#include "table/source/table_header.h"

namespace trainer::data {
namespace {

using duckdb::ResultColumn;

/// Some rows of a chunk of DuckDB's.
struct Rows {
  std::shared_ptr<const duckdb::Chunk> chunk;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t first_number = 1;
};

void fill(const Rows& rows, const std::vector<WantedColumn>& wanted, const std::string& name,
          Chunk& chunk) {
  chunk.num_rows = rows.end - rows.begin;
  chunk.first_number = rows.first_number;
  chunk.file = name;
  chunk.lines.resize(static_cast<std::size_t>(chunk.num_rows));
  for (int64_t row = 0; row < chunk.num_rows; ++row) {
    chunk.lines[static_cast<std::size_t>(row)] = rows.first_number + row;
  }
  chunk.columns.resize(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ChunkColumn& column = chunk.columns[i];
    column.type = wanted[i].type;
    if (column.type == CellType::kNumber) {
      column.numbers = rows.chunk->numbers(i) + rows.begin;
      column.valid = rows.chunk->valid(i);
      column.first_bit = rows.begin;
      continue;
    }
    column.texts.resize(static_cast<std::size_t>(chunk.num_rows));
    for (int64_t row = 0; row < chunk.num_rows; ++row) {
      column.texts[static_cast<std::size_t>(row)] = rows.chunk->text(i, rows.begin + row);
    }
  }
}

/// Rows that a thread of its own may read.
class TakenRows : public ChunkStream {
 public:
  TakenRows(const std::vector<WantedColumn>& wanted, const std::string& name)
      : wanted_(wanted), name_(name) {}

  void add(Rows rows) { rows_.push_back(std::move(rows)); }

  void clear() {
    rows_.clear();
    current_.reset();
  }

  bool next(Chunk& chunk, int64_t /*max_rows*/) override {
    if (rows_.empty()) return false;
    fill(rows_.front(), wanted_, name_, chunk);
    current_ = std::move(rows_.front().chunk);
    rows_.pop_front();
    return true;
  }

 private:
  const std::vector<WantedColumn>& wanted_;
  const std::string& name_;
  std::deque<Rows> rows_;
  std::shared_ptr<const duckdb::Chunk> current_;  // that the last chunk is of
};

class QuerySource : public ChunkSource {
 public:
  explicit QuerySource(const TableSource& source)
      : sql_(table_sql(source)), format_({.missing = source.format.missing}), query_(sql_.select) {
    for (const ResultColumn& column : query_.columns()) {
      columns_.push_back({column.name, column.type, column.type_name});
    }
    require_good_names(sql_.select.name, column_names(*this));
  }

  const std::string& name() const override { return sql_.select.name; }
  const std::string& header_location() const override { return name(); }
  const std::vector<SourceColumn>& columns() const override { return columns_; }
  const CsvFormat& format() const override { return format_; }
  bool has_types() const override { return true; }
  bool has_lines() const override { return false; }

  void start(const std::vector<WantedColumn>& wanted, Pass pass) override {
    keeps_ = pass == Pass::kSample;
    next_kept_ = 0;
    num_rows_ = 0;
    rows_ = {};
    if (has_started_) return;  // the sample was of the same columns
    has_started_ = true;
    wanted_ = wanted;
    query_.start(wanted);
  }

  bool next(Chunk& chunk, int64_t max_rows) override {
    if (!take_some(max_rows)) return false;
    fill(taken_, wanted_, name(), chunk);
    return true;
  }

  bool take(int64_t max_rows, std::shared_ptr<ChunkStream>& rows) override {
    if (rows == nullptr) rows = std::make_shared<TakenRows>(wanted_, name());
    auto& taken = static_cast<TakenRows&>(*rows);
    taken.clear();
    int64_t num_taken = 0;
    while (num_taken < max_rows && take_some(max_rows - num_taken)) {
      num_taken += taken_.end - taken_.begin;
      taken.add(taken_);
    }
    return num_taken > 0;
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
    const std::optional<duckdb::Chunk> chunk = count.next();
    return chunk ? static_cast<int64_t>(chunk->numbers(0)[0]) : 0;
  }

  std::vector<Fingerprint> fingerprints() override {
    if (sql_.files.empty()) return {cells_};
    std::vector<Fingerprint> files;
    files.reserve(sql_.files.size());
    for (const std::string& file : sql_.files) files.push_back(fingerprint(file));
    return files;
  }

 private:
  // Rows of one chunk into taken_; false at the end.
  bool take_some(int64_t max_rows) {
    if (rows_.begin == rows_.end && !begin_chunk()) return false;
    taken_ = rows_;
    taken_.end = std::min(rows_.end, rows_.begin + max_rows);
    taken_.first_number = num_rows_ + 1;
    num_rows_ += taken_.end - taken_.begin;
    rows_.begin = taken_.end;
    return true;
  }

  bool begin_chunk() {
    do {
      if (next_kept_ < kept_.size()) {
        rows_.chunk = kept_[next_kept_++];
      } else if (std::optional<duckdb::Chunk> chunk = query_.next()) {
        if (sql_.files.empty()) add_to_fingerprint(*chunk);
        rows_.chunk = std::make_shared<const duckdb::Chunk>(std::move(*chunk));
        if (keeps_) kept_.push_back(rows_.chunk);
        next_kept_ = kept_.size();
      } else {
        return false;
      }
      if (!keeps_ && next_kept_ == kept_.size()) kept_.clear();
      if (kept_.empty()) next_kept_ = 0;
      rows_.begin = 0;
      rows_.end = rows_.chunk->num_rows();
    } while (rows_.end == 0);
    return true;
  }

  // Of the cells: a query has no file to look at.
  void add_to_fingerprint(const duckdb::Chunk& chunk) {
    const auto add = [&](const void* data, std::size_t size) {
      cells_.crc32 = crc32({static_cast<const std::byte*>(data), size}, cells_.crc32);
      cells_.num_bytes += size;
    };
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      for (int64_t row = 0; row < chunk.num_rows(); ++row) {
        const bool is_null = chunk.is_null(i, row);
        add(&is_null, sizeof(is_null));
        if (is_null) continue;
        if (wanted_[i].type == CellType::kNumber) {
          add(chunk.numbers(i) + row, sizeof(double));
        } else {
          const std::string_view cell = chunk.text(i, row);
          add(cell.data(), cell.size());
        }
      }
    }
  }

  TableSql sql_;
  CsvFormat format_;  // of cells that come as text
  duckdb::Query query_;
  std::vector<SourceColumn> columns_;
  std::vector<WantedColumn> wanted_;
  bool has_started_ = false;
  bool keeps_ = false;  // chunks, for another start
  std::vector<std::shared_ptr<const duckdb::Chunk>> kept_;
  std::size_t next_kept_ = 0;
  Rows rows_;   // that are left of the chunk
  Rows taken_;  // those given last
  int64_t num_rows_ = 0;
  Fingerprint cells_{.path = "data.query"};
};

}  // namespace

std::unique_ptr<ChunkSource> open_query(const TableSource& source) {
  return std::make_unique<QuerySource>(source);
}

}  // namespace trainer::data
