// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/csv.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/data/csv_pieces.h"
#include "trainer/data/data_file.h"

#include "data/csv_cursor.h"
#include "data/csv_header.h"
#include "data/csv_rows.h"
#include "data/csv_text.h"
#include "data/error.h"

namespace trainer::data {
namespace {

// Room for all rows, so that the features never exist twice: memory that is not used is not there.
// Each field of a row takes at least a byte.
void reserve_rows(Table& table, const CsvText& text, uint64_t num_bytes, const CsvHeader& header) {
  const size_t num_rows =
      std::min(text.likely_lines(), static_cast<size_t>(num_bytes) / header.columns.size() + 1);
  std::get<std::vector<float>>(table.features.values).reserve(num_rows * header.num_features);
  table.lines.reserve(num_rows);
  table.targets.reserve(num_rows * table.target_names.size());
}

/// A file and the walk over it.
struct Source {
  Source(DataFile from, const CsvFormat& format)
      : file(std::move(from)), text(file), cursor(file.name(), text, format) {}

  /// Goes to the header, and says where it is.
  std::string find_header() {
    if (!cursor.begin_row()) throw data_error(file.name(), "the file is empty");
    return fmt::format("{}:{}", file.name(), cursor.row_line());
  }

  DataFile file;
  CsvText text;
  CsvCursor cursor;
};

void require_rows(const Table& table) {
  if (!table.lines.empty()) return;
  throw data_error(table.file, table.num_without_target == 0
                                   ? std::string("no rows after the header")
                                   : fmt::format("none of the {} rows has a value to predict",
                                                 with_thousands(table.num_without_target)));
}

/// All rows; `source` stands behind the header.
Table read_table(Source& source, CsvHeader header, std::span<const std::string> targets,
                 int64_t max_categories) {
  Table table;
  table.target_names.assign(targets.begin(), targets.end());
  table.file = source.file.name();
  table.features.values = std::vector<float>();
  reserve_rows(table, source.text, source.file.likely_content_bytes(), header);
  RowReader reader(source.cursor, header, max_categories, table);
  while (source.cursor.begin_row()) reader.read_row();
  require_rows(table);
  reader.finish();
  table.fingerprints = {source.file.fingerprint()};
  return table;
}

/// Takes the rows out and leaves their memory there.
void clear_rows(Table& table) {
  Table empty;
  std::swap(empty.features.values, table.features.values);
  if (!std::holds_alternative<std::vector<float>>(empty.features.values)) {
    empty.features.values = std::vector<float>();
  }
  std::get<std::vector<float>>(empty.features.values).clear();
  const auto take_memory = [](auto& from, auto& to) {
    from.clear();
    std::swap(from, to);
  };
  take_memory(table.lines, empty.lines);
  take_memory(table.targets, empty.targets);
  take_memory(table.ids, empty.ids);
  table = std::move(empty);
}

/// The message of an error without where it was found.
std::string without_place(const std::string& message, const std::string& file, int64_t line) {
  const std::string place = fmt::format("{}:{}: ", file, line);
  return message.starts_with(place) ? message.substr(place.size()) : message;
}

void take_offsets(const std::vector<Column>& from, CsvHeader& header) {
  std::unordered_map<std::string_view, double> offsets;
  for (const Column& column : from) offsets[column.name] = column.offset;
  for (size_t i = 0; i < header.columns.size(); ++i) {
    const auto found = offsets.find(header.columns[i].name);
    header.offsets[i] = found == offsets.end() ? 0 : found->second;
  }
}

std::vector<std::string> id_names_of(const CsvHeader& header) {
  std::vector<std::string> names;
  for (const CsvColumn& column : header.columns) {
    if (column.role != Role::kId && !column.kept) continue;
    const size_t place = column.kept.value_or(column.place);
    names.resize(std::max(names.size(), place + 1));
    names[place] = column.name;
  }
  return names;
}

}  // namespace

Table read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  Source source(DataFile(path), options.format);
  const std::string place = source.find_header();
  const std::vector<std::string> names = read_names(source.cursor, place);
  require_several(names, place, source.cursor.format().delimiter, "data.delimiter: ");
  CsvHeader header = header_of(place, names, options);
  {
    // Looks at the first rows, which may be many, before they are read.
    Source first(DataFile(path), options.format);
    first.find_header();
    first.cursor.count_fields();
    survey_columns(first.cursor, header);
  }
  if (options.with_offsets != nullptr) take_offsets(*options.with_offsets, header);
  return read_table(source, std::move(header), options.targets, options.max_categories);
}

Table read_csv_as(const std::filesystem::path& path, const TrainedColumns& trained,
                  const CsvFormat& format) {
  Source source(DataFile(path), format);
  const std::string place = source.find_header();
  CsvHeader header =
      header_of(place, read_names(source.cursor, place), trained, source.cursor.format().delimiter);
  return read_table(source, std::move(header), trained.targets, 0);
}

struct CsvPieces::State {
  State(DataFile file, const TrainedColumns& trained, const CsvFormat& format)
      : source(std::move(file), format), targets(trained.targets.begin(), trained.targets.end()) {
    const std::string place = source.find_header();
    header = header_of(place, read_names(source.cursor, place), trained,
                       source.cursor.format().delimiter);
  }

  Source source;
  CsvHeader header;
  std::vector<std::string> targets;
  int64_t num_without_target = 0;
  bool has_rows = false;
};

CsvPieces::CsvPieces(DataFile file, const TrainedColumns& trained, const CsvFormat& format)
    : state_(std::make_unique<State>(std::move(file), trained, format)) {}

CsvPieces::CsvPieces(const std::filesystem::path& path, const TrainedColumns& trained,
                     const CsvFormat& format)
    : CsvPieces(DataFile(path, DataFile::Kind::kAny), trained, format) {}

CsvPieces::~CsvPieces() = default;

std::vector<std::string> CsvPieces::names() const {
  std::vector<std::string> names;
  names.reserve(state_->header.columns.size());
  for (const CsvColumn& column : state_->header.columns) names.push_back(column.name);
  return names;
}

std::vector<std::string> CsvPieces::id_names() const { return id_names_of(state_->header); }

bool CsvPieces::next(Table& table, int64_t max_rows) { return read(table, max_rows, nullptr); }

bool CsvPieces::next(Table& table, int64_t max_rows, std::vector<BadRow>& bad) {
  return read(table, max_rows, &bad);
}

bool CsvPieces::read(Table& table, int64_t max_rows, std::vector<BadRow>* bad) {
  Source& source = state_->source;
  clear_rows(table);
  table.file = source.file.name();
  table.target_names = state_->targets;
  table.id_names = id_names();
  RowReader reader(source.cursor, state_->header, 0, table);
  table.num_without_target = state_->num_without_target;
  const auto most = static_cast<size_t>(max_rows);
  size_t num_bad = 0;
  while (table.lines.size() + num_bad < most && source.cursor.begin_row()) {
    if (bad == nullptr) {
      reader.read_row();
    } else if (const auto error = reader.try_row()) {
      bad->push_back({source.cursor.row_line(),
                      without_place(error->what(), source.file.name(), source.cursor.row_line())});
      ++num_bad;
    }
  }
  state_->num_without_target = table.num_without_target;
  const bool has_more = !table.lines.empty() || num_bad > 0;
  state_->has_rows = state_->has_rows || has_more;
  if (!state_->has_rows) require_rows(table);
  reader.finish();
  return has_more;
}

int64_t CsvPieces::num_without_target() const { return state_->num_without_target; }

uint64_t CsvPieces::bytes_read() const { return state_->source.file.bytes_read(); }

uint64_t CsvPieces::likely_bytes() const { return state_->source.file.likely_bytes(); }

}  // namespace trainer::data
