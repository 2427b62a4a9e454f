// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/read_table.h"

#include <limits>
#include <memory>

#include "data/csv_reader.h"
#include "data/query_reader.h"
#include "data/report_reading.h"
#include "data/table_reader.h"

namespace trainer::data {
namespace {

Table read_all(TableReader& reader) {
  Table table;
  const LongWork reading(kReading);
  reader.next(table, std::numeric_limits<int64_t>::max());
  table.fingerprints = reader.fingerprints();
  return table;
}

}  // namespace

Table read_table(const TableSource& source, const ColumnOptions& options) {
  return read_all(is_read_by_duckdb(source) ? *open_query(source, options)
                                            : *open_csv(source, options));
}

Table read_table_as(const TableSource& source, const TrainedColumns& trained) {
  return read_all(is_read_by_duckdb(source) ? *open_query(source, trained)
                                            : *open_csv(source, trained, DataFile::Kind::kRegular));
}

}  // namespace trainer::data
