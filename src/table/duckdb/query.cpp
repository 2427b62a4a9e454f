// SPDX-License-Identifier: Apache-2.0
// A query is read in three steps. It is prepared as it stands, so that DuckDB's messages are about
// the user's own text; DESCRIBE tells its columns; and it is run inside a SELECT that casts each
// wanted column to DOUBLE or VARCHAR, so that DuckDB converts its many types and skips columns that
// nobody asked for. The result is streamed: rows come while it runs, and only a few are in memory.
// A thread fetches them ahead.
#include "trainer/table/duckdb/query.h"

#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"

#include "table/duckdb/c_api.h"
#include "table/duckdb/session.h"

namespace trainer::duckdb {
namespace {

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  for (const std::string_view beginning : beginnings) {
    if (text.starts_with(beginning)) return true;
  }
  return false;
}

ColumnType type_of(std::string_view name) {
  if (name.ends_with(']')) return ColumnType::kOther;  // a list or an array
  if (name == "BOOLEAN") return ColumnType::kBoolean;
  if (begins_with_any(name, {"VARCHAR", "ENUM(", "UUID"})) return ColumnType::kText;
  if (name == "DATE" || name.starts_with("TIMESTAMP")) return ColumnType::kTime;
  const bool is_number =
      begins_with_any(name, {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT",
                             "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE",
                             "DECIMAL", "BIGNUM", "\"NULL\""});
  return is_number ? ColumnType::kNumber : ColumnType::kOther;
}

/// `column` as a cell of that type.
std::string cast(const ResultColumn& column, CellType type) {
  const std::string name = quoted_name(column.name);
  if (type == CellType::kText) return fmt::format("CAST({} AS VARCHAR)", name);
  if (column.type == ColumnType::kTime) return fmt::format("epoch(CAST({} AS TIMESTAMP))", name);
  return fmt::format("CAST({} AS DOUBLE)", name);
}

std::string quoted(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote) result += quote;
    result += c;
  }
  return result + quote;
}

}  // namespace

std::string quoted_text(std::string_view text) { return quoted(text, '\''); }

std::string quoted_name(std::string_view name) { return quoted(name, '"'); }

bool is_available(std::string& text) {
  try {
    text = c_api().library_version();
    return true;
  } catch (const Error& error) {
    text = error.what();
    return false;
  }
}

Chunk::Chunk(void* handle, size_t num_columns) : handle_(handle), columns_(num_columns) {
  const CApi& api = c_api();
  auto* chunk = static_cast<CChunk*>(handle);
  num_rows_ = static_cast<int64_t>(api.data_chunk_get_size(chunk));
  for (size_t i = 0; i < num_columns; ++i) {
    CVector* vector = api.data_chunk_get_vector(chunk, i);
    columns_[i] = {api.vector_get_data(vector), api.vector_get_validity(vector)};
  }
}

Chunk::~Chunk() {
  auto* chunk = static_cast<CChunk*>(handle_);
  if (chunk != nullptr) c_api().destroy_data_chunk(&chunk);
}

Chunk::Chunk(Chunk&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      num_rows_(std::exchange(other.num_rows_, 0)),
      columns_(std::move(other.columns_)) {}

Chunk& Chunk::operator=(Chunk&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(num_rows_, other.num_rows_);
  std::swap(columns_, other.columns_);
  return *this;
}

std::string_view Chunk::text(size_t column, int64_t row) const {
  if (is_null(column, row)) return {};
  const CText& cell = static_cast<const CText*>(columns_[column].cells)[row];
  return {cell.length <= CText::kMaxInside ? cell.begin : cell.outside, cell.length};
}

struct Query::State {
  explicit State(Statement given) : statement(std::move(given)), session(statement) {}

  Statement statement;
  Session session;
  std::vector<ResultColumn> columns;
  size_t num_wanted = 0;
  std::optional<ChunkQueue> chunks;
};

Query::Query(Statement select) : state_(std::make_unique<State>(std::move(select))) {
  std::string& sql = state_->statement.sql;
  sql = without_end(sql);
  state_->session.require_select(sql, state_->statement.is_of_user);
  state_->session.stream("DESCRIBE " + sql);
  constexpr size_t kNameAndType = 2;
  while (CChunk* chunk = state_->session.fetch()) {
    const Chunk rows(chunk, kNameAndType);
    for (int64_t row = 0; row < rows.num_rows(); ++row) {
      std::string type_name(rows.text(1, row));
      const ColumnType type = type_of(type_name);
      state_->columns.push_back({std::string(rows.text(0, row)), std::move(type_name), type});
    }
  }
}

Query::~Query() = default;

const std::string& Query::name() const { return state_->session.name(); }

const std::vector<ResultColumn>& Query::columns() const { return state_->columns; }

void Query::start(const std::vector<WantedColumn>& wanted) {
  std::string list;
  for (const WantedColumn& column : wanted) {
    if (!list.empty()) list += ", ";
    list += cast(state_->columns[column.index], column.type);
  }
  // On lines of its own: it may end with a comment.
  state_->session.stream(fmt::format("SELECT {} FROM (\n{}\n)", list, state_->statement.sql));
  state_->num_wanted = wanted.size();
  state_->chunks.emplace(state_->session);
}

std::optional<Chunk> Query::next() {
  CChunk* chunk = state_->chunks->next();
  if (chunk == nullptr) return std::nullopt;
  return Chunk(chunk, state_->num_wanted);
}

std::optional<double> Query::progress() const {
  constexpr double kAll = 100;
  const double percentage = state_->session.progress();
  if (percentage < 0) return std::nullopt;
  return percentage / kAll;
}

void execute(const Statement& statement) { Session(statement).run(statement.sql); }

}  // namespace trainer::duckdb
