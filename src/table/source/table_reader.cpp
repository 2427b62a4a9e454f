// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/table_reader.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/table/source/inspect.h"

#include "table/error.h"
#include "table/source/chunk.h"
#include "table/source/report_reading.h"
#include "table/source/row_reader.h"
#include "table/source/table_header.h"
#include "table/source/table_sample.h"

namespace trainer::data {
namespace {

using duckdb::ColumnType;

// The type decides where no option does.
void decide_by_type(TableHeader& header, std::size_t index, const SourceColumn& source) {
  HeaderColumn& column = header.columns[index];
  switch (source.type.value_or(ColumnType::kNumber)) {
    case ColumnType::kNumber:
      break;
    case ColumnType::kTime:
      if (!header.date_parts.empty()) {
        make_date(header, index);
        break;
      }
      [[fallthrough]];
    case ColumnType::kBoolean:
    case ColumnType::kText:
      column.role = Role::kText;
      column.kind = ColumnKind::kCategorical;
      break;
    case ColumnType::kOther:
      column.role = Role::kSkipped;
      column.kind = ColumnKind::kIgnored;
      column.reason = unusable_reason(source.type_name);
      break;
  }
}

void require_usable(const TableHeader& header, const ChunkSource& source) {
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    const SourceColumn& column = source.columns()[i];
    if (header.columns[i].role == Role::kSkipped || column.type != ColumnType::kOther) continue;
    throw data_error(source.name(),
                     fmt::format("column {}: expected a number or a text, got the type {}; "
                                 "convert it with a query (data.query)",
                                 in_quotes(column.name), column.type_name));
  }
}

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

struct TablePiece::Unread {
  std::shared_ptr<ChunkStream> rows;
  Chunk chunk;
};

struct TableReader::State {
  State(std::unique_ptr<ChunkSource> given, const ColumnOptions& options)
      : source(std::move(given)),
        targets(options.targets),
        max_categories(options.max_categories),
        expects_labels(options.expects_labels) {
    const std::vector<std::string> names = column_names(*source);
    const std::string& location = source->header_location();
    if (!source->has_types()) {
      require_several(names, location, source->format().delimiter, "data.delimiter: ");
    }
    header = make_header(location, names, options);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!header.columns[i].is_declared) decide_by_type(header, i, source->columns()[i]);
    }
    require_usable(header, *source);
    const std::vector<Column>* const trained = options.with_offsets;
    if (!source->has_types() || trained == nullptr) decide_by_sample(*source, header);
    if (trained != nullptr) take_trained(*trained, header);
    start();
  }

  State(std::unique_ptr<ChunkSource> given, const TrainedColumns& trained)
      : source(std::move(given)), targets(trained.targets.begin(), trained.targets.end()) {
    header = make_trained_header(
        source->header_location(), column_names(*source), trained,
        source->has_types() ? std::nullopt : std::optional(source->format().delimiter));
    require_usable(header, *source);
    start();
  }

  void start() {
    count_features(header);
    plan = plan_readings(header, *source);
    source->start(plan.wanted, ChunkSource::Pass::kAll);
  }

  std::unique_ptr<ChunkSource> source;
  TableHeader header;
  std::vector<std::string> targets;
  int64_t max_categories = 0;
  bool expects_labels = false;
  ReadingPlan plan;
  Chunk chunk;

  std::mutex mutex;  // of the next three, which threads change that read pieces
  int64_t num_without_target = 0;
  int64_t num_weightless = 0;
  bool has_rows = false;
};

TableReader::TableReader(const TableSource& source, const ColumnOptions& options)
    : state_(std::make_unique<State>(open_source(source), options)) {}

TableReader::TableReader(const TableSource& source, const TrainedColumns& trained,
                         DataFile::Kind kind)
    : state_(std::make_unique<State>(open_source(source, kind), trained)) {}

TableReader::TableReader(DataFile file, const CsvFormat& format, const TrainedColumns& trained)
    : state_(std::make_unique<State>(open_source(std::move(file), format), trained)) {}

TableReader::~TableReader() = default;

std::vector<std::string> TableReader::names() const { return column_names(*state_->source); }

std::vector<std::string> TableReader::id_names() const {
  std::vector<std::string> names;
  for (const Reading& reading : state_->plan.readings) {
    if (reading.role != Role::kId) continue;
    names.resize(std::max(names.size(), reading.index + 1));
    names[reading.index] = state_->header.columns[reading.column].name;
  }
  return names;
}

std::vector<std::string> TableReader::id_types() const {
  if (!state_->source->has_types()) return {};
  std::vector<std::string> types(id_names().size());
  for (const Reading& reading : state_->plan.readings) {
    if (reading.role != Role::kId) continue;
    const SourceColumn& column = state_->source->columns()[reading.column];
    types[reading.index] = column.type == ColumnType::kOther ? "VARCHAR" : column.type_name;
  }
  return types;
}

int64_t TableReader::num_features() const {
  return static_cast<int64_t>(state_->header.num_features);
}

void TableReader::clear(Table& table) const {
  clear_rows(table);
  table.file = state_->source->name();
  table.has_lines = state_->source->has_lines();
  table.target_names = state_->targets;
  if (state_->expects_labels) table.targets.expect_labels();
  table.id_names = id_names();
}

Table TableReader::read_all() {
  Table table;
  const LongWork reading(kReading);
  next(table, std::numeric_limits<int64_t>::max(), nullptr);
  table.fingerprints = state_->source->fingerprints();
  return table;
}

bool TableReader::next(Table& table, int64_t max_rows) { return next(table, max_rows, nullptr); }

bool TableReader::next(Table& table, int64_t max_rows, std::vector<BadRow>& bad) {
  return next(table, max_rows, &bad);
}

bool TableReader::next(Table& table, int64_t max_rows, std::vector<BadRow>* bad) {
  State& state = *state_;
  clear(table);
  table.num_without_target = state.num_without_target;
  table.num_weightless = state.num_weightless;
  const bool reads_all = max_rows == std::numeric_limits<int64_t>::max();
  if (reads_all && !state.source->has_types()) {
    // So that the features never exist twice: memory that is not used is not there.
    const auto num_rows = static_cast<std::size_t>(1.05 * static_cast<double>(num_rows_hint()));
    std::get<Array<float>>(table.features.values).reserve(num_rows * state.header.num_features);
    table.lines.reserve(num_rows);
    table.targets.reserve(num_rows * table.target_names.size());
  }
  RowReader rows(state.header, state.plan, state.source->format(), state.max_categories,
                 bad != nullptr, table);
  ReadingProgress progress;
  while (rows.num_rows() < max_rows &&
         state.source->next(state.chunk, max_rows - rows.num_rows())) {
    if (reads_all) progress.add(state.chunk, *state.source);
    rows.read(state.chunk);
  }
  const std::vector<BadRow> found = rows.finish();
  if (bad != nullptr) bad->insert(bad->end(), found.begin(), found.end());
  state.num_without_target = table.num_without_target;
  state.num_weightless = table.num_weightless;
  const bool has_more = !table.lines.empty() || !found.empty();
  state.has_rows = state.has_rows || has_more;
  if (!has_more) require_rows();
  return has_more;
}

bool TableReader::take(int64_t max_rows, TablePiece& piece) {
  clear(piece.table);
  piece.bad.clear();
  if (piece.unread == nullptr) piece.unread = std::make_shared<TablePiece::Unread>();
  return state_->source->take(max_rows, piece.unread->rows);
}

void TableReader::read(TablePiece& piece) {
  TableHeader header = state_->header;
  RowReader rows(header, state_->plan, state_->source->format(), state_->max_categories,
                 piece.collects_bad, piece.table);
  Chunk& chunk = piece.unread->chunk;
  while (piece.unread->rows->next(chunk, std::numeric_limits<int64_t>::max())) rows.read(chunk);
  piece.bad = rows.finish();
  const std::lock_guard lock(state_->mutex);
  state_->num_without_target += piece.table.num_without_target;
  state_->num_weightless += piece.table.num_weightless;
  state_->has_rows = state_->has_rows || !piece.table.lines.empty() || !piece.bad.empty();
}

void TableReader::require_rows() const {
  const State& state = *state_;
  if (state.has_rows) return;
  const int64_t num_left_out = state.num_without_target + state.num_weightless;
  if (num_left_out == 0) throw data_error(state.source->name(), "no data rows after the header");
  throw data_error(state.source->name(),
                   fmt::format("none of the {} rows has {}", with_thousands(num_left_out),
                               state.num_weightless == 0       ? "a target"
                               : state.num_without_target == 0 ? "a weight above 0"
                                                               : "a target and a weight above 0"));
}

int64_t TableReader::num_without_target() const { return state_->num_without_target; }

int64_t TableReader::num_weightless() const { return state_->num_weightless; }

uint64_t TableReader::bytes_read() const { return state_->source->bytes_read(); }

uint64_t TableReader::size_hint() const { return state_->source->size_hint(); }

int64_t TableReader::num_rows_hint() const { return state_->source->num_rows_hint(); }

Table read_table(const TableSource& source, const ColumnOptions& options) {
  return TableReader(source, options).read_all();
}

Table read_table_as(const TableSource& source, const TrainedColumns& trained) {
  return TableReader(source, trained, DataFile::Kind::kRegular).read_all();
}

}  // namespace trainer::data
