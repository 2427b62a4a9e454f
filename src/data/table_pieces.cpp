// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/table_pieces.h"

#include <utility>

#include "trainer/data/data_file.h"

#include "data/csv_reader.h"
#include "data/query_reader.h"
#include "data/table_reader.h"

namespace trainer::data {

TablePieces::TablePieces(const TableSource& source, const TrainedColumns& trained)
    : reader_(is_read_by_duckdb(source) ? open_query(source, trained)
                                        : open_csv(source, trained, DataFile::Kind::kAny)) {}

TablePieces::TablePieces(DataFile file, const CsvFormat& format, const TrainedColumns& trained)
    : reader_(open_csv(std::move(file), format, trained)) {}

TablePieces::~TablePieces() = default;

std::vector<std::string> TablePieces::names() const {
  std::vector<std::string> names;
  names.reserve(reader_->header().columns.size());
  for (const HeaderColumn& column : reader_->header().columns) names.push_back(column.name);
  return names;
}

std::vector<std::string> TablePieces::id_names() const { return reader_->id_names(); }

std::vector<std::string> TablePieces::id_types() const { return reader_->id_types(); }

bool TablePieces::next(Table& table, int64_t max_rows) { return reader_->next(table, max_rows); }

bool TablePieces::next(Table& table, int64_t max_rows, std::vector<BadRow>& bad) {
  return reader_->next(table, max_rows, &bad);
}

bool TablePieces::take(int64_t max_rows, TablePiece& piece) {
  return reader_->take(max_rows, piece);
}

void TablePieces::read(TablePiece& piece) { reader_->read(piece); }

void TablePieces::require_rows() const { reader_->require_rows(); }

int64_t TablePieces::num_without_target() const { return reader_->num_without_target(); }

int64_t TablePieces::num_weightless() const { return reader_->num_weightless(); }

uint64_t TablePieces::bytes_read() const { return reader_->bytes_read(); }

uint64_t TablePieces::size_hint() const { return reader_->size_hint(); }

}  // namespace trainer::data
