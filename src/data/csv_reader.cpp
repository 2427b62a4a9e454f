// SPDX-License-Identifier: Apache-2.0
#include "data/csv_reader.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "data/column_names.h"
#include "data/csv_rows.h"
#include "data/csv_source.h"
#include "data/csv_types.h"
#include "data/report_reading.h"
#include "data/trained_header.h"

namespace trainer::data {
namespace {

/// The message of an error without where it was found.
std::string without_location(const std::string& message, const std::string& location) {
  return message.starts_with(location + ": ") ? message.substr(location.size() + 2) : message;
}

class CsvReader : public TableReader {
 public:
  CsvReader(const TableSource& source, const ColumnOptions& options)
      : source_(source.path, source_files(source.path), source.format) {
    const std::string location = source_.find_header();
    const std::vector<std::string>& names = source_.read_names(location);
    require_several(names, location, source_.cursor().format().delimiter, "data.delimiter: ");
    header_ = make_header(location, names, options);
    targets_ = options.targets;
    max_categories_ = options.max_categories;
    expects_labels_ = options.expects_labels;
    // Looks at the first rows, which may be many, before they are read.
    CsvSource first(source.path, source_files(source.path), source.format);
    first.read_names(first.find_header());
    infer_column_types(first, header_);
    if (options.with_offsets != nullptr) take_trained(*options.with_offsets, header_);
    count_features(header_);
  }

  CsvReader(const TableSource& source, const TrainedColumns& trained)
      : source_(source.path, source_files(source.path), source.format) {
    read_header(trained);
  }

  CsvReader(DataFile file, const CsvFormat& format, const TrainedColumns& trained)
      : source_(std::move(file), format) {
    read_header(trained);
  }

  bool take(int64_t max_rows, TablePiece& piece) override {
    clear(piece.table);
    piece.table.has_lines = source_.has_lines();
    piece.bad.clear();
    if (!source_.begin_row()) return false;
    if (piece.unread == nullptr) piece.unread = std::make_shared<CsvPiece>();
    piece.unread->first_number = num_rows_ + 1;
    num_rows_ += source_.take_rows(max_rows, *piece.unread);
    return true;
  }

  uint64_t bytes_read() const override { return source_.bytes_read(); }
  uint64_t size_hint() const override { return source_.size_hint(); }
  int64_t num_rows_hint() const override {
    return static_cast<int64_t>(source_.num_rows_hint(header_.columns.size()));
  }
  std::vector<Fingerprint> fingerprints() override { return source_.fingerprints(); }

 protected:
  const std::string& name() const override { return source_.name(); }

  int64_t read(Table& table, int64_t max_rows, std::vector<BadRow>* bad) override {
    const bool reads_all = max_rows == std::numeric_limits<int64_t>::max();
    if (reads_all) reserve_all_rows(table);
    table.has_lines = source_.has_lines();
    RowReader reader(source_.cursor(), header_, max_categories_, table);
    const auto max_read = static_cast<size_t>(max_rows);
    size_t num_bad = 0;
    while (table.lines.size() + num_bad < max_read && source_.begin_row()) {
      if (reads_all && num_rows_ % kRowsPerReport == 0) report_reading(bytes_read(), size_hint());
      ++num_rows_;
      const int64_t line = table.has_lines ? source_.cursor().row_line() : num_rows_;
      if (!read_row(reader, line, source_.cursor(), bad)) ++num_bad;
    }
    reader.finish();
    return static_cast<int64_t>(num_bad);
  }

  void read_taken(TablePiece& piece) const override {
    TableHeader header = header_;
    CsvCursor cursor(piece.unread->origin, piece.unread->text, piece.unread->format);
    RowReader reader(cursor, header, max_categories_, piece.table);
    int64_t number = piece.unread->first_number;
    for (; cursor.begin_row(); ++number) {
      read_row(reader, piece.table.has_lines ? cursor.row_line() : number, cursor,
               piece.collects_bad ? &piece.bad : nullptr);
    }
    reader.finish();
  }

 private:
  /// The row of the cursor, as that of `line`. False for one that was added to `bad`.
  static bool read_row(RowReader& reader, int64_t line, const CsvCursor& cursor,
                       std::vector<BadRow>* bad) {
    if (bad == nullptr) {
      reader.read_row(line);
      return true;
    }
    const std::optional<Error> error = reader.try_row(line);
    if (error) bad->push_back({line, without_location(error->what(), cursor.location())});
    return !error;
  }

  void read_header(const TrainedColumns& trained) {
    const std::string location = source_.find_header();
    header_ = make_trained_header(location, source_.read_names(location), trained,
                                  source_.cursor().format().delimiter);
    targets_.assign(trained.targets.begin(), trained.targets.end());
  }

  // So that the features never exist twice: memory that is not used is not there.
  void reserve_all_rows(Table& table) const {
    const auto num_rows = static_cast<size_t>(1.05 * static_cast<double>(num_rows_hint()));
    std::get<Array<float>>(table.features.values).reserve(num_rows * header_.num_features);
    table.lines.reserve(num_rows);
    table.targets.reserve(num_rows * table.target_names.size());
  }

  CsvSource source_;
  int64_t num_rows_ = 0;  // so far
};

}  // namespace

std::unique_ptr<TableReader> open_csv(const TableSource& source, const ColumnOptions& options) {
  return std::make_unique<CsvReader>(source, options);
}

std::unique_ptr<TableReader> open_csv(const TableSource& source, const TrainedColumns& trained,
                                      DataFile::Kind kind) {
  if (!is_one_text(source)) return std::make_unique<CsvReader>(source, trained);
  return open_csv(DataFile(source.path, kind), source.format, trained);
}

std::unique_ptr<TableReader> open_csv(DataFile file, const CsvFormat& format,
                                      const TrainedColumns& trained) {
  return std::make_unique<CsvReader>(std::move(file), format, trained);
}

}  // namespace trainer::data
