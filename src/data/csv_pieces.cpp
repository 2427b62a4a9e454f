// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/csv_pieces.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "data/csv_header.h"
#include "data/csv_names.h"
#include "data/csv_rows.h"
#include "data/csv_source.h"
#include "data/csv_trained_header.h"

namespace trainer::data {
namespace {

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
std::string without_location(const std::string& message, const std::string& file, int64_t line) {
  const std::string location = fmt::format("{}:{}: ", file, line);
  return message.starts_with(location) ? message.substr(location.size()) : message;
}

std::vector<std::string> collect_id_names(const CsvHeader& header) {
  std::vector<std::string> names;
  for (const CsvColumn& column : header.columns) {
    if (column.role != Role::kId && !column.kept_index) continue;
    const size_t index = column.kept_index.value_or(column.index);
    names.resize(std::max(names.size(), index + 1));
    names[index] = column.name;
  }
  return names;
}

}  // namespace

struct CsvPieces::State {
  State(DataFile file, const TrainedColumns& trained, const CsvFormat& format)
      : source(std::move(file), format), targets(trained.targets.begin(), trained.targets.end()) {
    const std::string location = source.find_header();
    header = make_trained_header(location, read_names(source.cursor, location), trained,
                                 source.cursor.format().delimiter);
  }

  CsvSource source;
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

std::vector<std::string> CsvPieces::id_names() const { return collect_id_names(state_->header); }

bool CsvPieces::next(Table& table, int64_t max_rows) { return read(table, max_rows, nullptr); }

bool CsvPieces::next(Table& table, int64_t max_rows, std::vector<BadRow>& bad) {
  return read(table, max_rows, &bad);
}

bool CsvPieces::read(Table& table, int64_t max_rows, std::vector<BadRow>* bad) {
  CsvSource& source = state_->source;
  clear_rows(table);
  table.file = source.file.name();
  table.target_names = state_->targets;
  table.id_names = id_names();
  RowReader reader(source.cursor, state_->header, 0, table);
  table.num_without_target = state_->num_without_target;
  const auto max_read = static_cast<size_t>(max_rows);
  size_t num_bad = 0;
  while (table.lines.size() + num_bad < max_read && source.cursor.begin_row()) {
    if (bad == nullptr) {
      reader.read_row();
    } else if (const auto error = reader.try_row()) {
      bad->push_back({source.cursor.row_line(), without_location(error->what(), source.file.name(),
                                                                 source.cursor.row_line())});
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

uint64_t CsvPieces::size_hint() const { return state_->source.file.size_hint(); }

}  // namespace trainer::data
