// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/csv.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "trainer/data/data_file.h"

#include "data/csv_header.h"
#include "data/csv_names.h"
#include "data/csv_rows.h"
#include "data/csv_source.h"
#include "data/csv_trained_header.h"
#include "data/csv_types.h"

namespace trainer::data {
namespace {

// Room for all rows, so that the features never exist twice: memory that is not used is not there.
// Each field of a row takes at least a byte.
void reserve_rows(Table& table, const CsvText& text, uint64_t num_bytes, const CsvHeader& header) {
  const size_t num_rows =
      std::min(text.num_lines_hint(), static_cast<size_t>(num_bytes) / header.columns.size() + 1);
  std::get<std::vector<float>>(table.features.values).reserve(num_rows * header.num_features);
  table.lines.reserve(num_rows);
  table.targets.reserve(num_rows * table.target_names.size());
}

/// All rows; `source` stands behind the header.
Table read_table(CsvSource& source, CsvHeader header, std::span<const std::string> targets,
                 int64_t max_categories) {
  Table table;
  table.target_names.assign(targets.begin(), targets.end());
  table.file = source.file.name();
  table.features.values = std::vector<float>();
  reserve_rows(table, source.text, source.file.content_size_hint(), header);
  RowReader reader(source.cursor, header, max_categories, table);
  while (source.cursor.begin_row()) reader.read_row();
  require_rows(table);
  reader.finish();
  table.fingerprints = {source.file.fingerprint()};
  return table;
}

void take_offsets(const std::vector<Column>& from, CsvHeader& header) {
  std::unordered_map<std::string_view, double> offsets;
  for (const Column& column : from) offsets[column.name] = column.offset;
  for (size_t i = 0; i < header.columns.size(); ++i) {
    const auto found = offsets.find(header.columns[i].name);
    header.offsets[i] = found == offsets.end() ? 0 : found->second;
  }
}

}  // namespace

Table read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  CsvSource source(DataFile(path), options.format);
  const std::string location = source.find_header();
  const std::vector<std::string> names = read_names(source.cursor, location);
  require_several(names, location, source.cursor.format().delimiter, "data.delimiter: ");
  CsvHeader header = make_header(location, names, options);
  {
    // Looks at the first rows, which may be many, before they are read.
    CsvSource first(DataFile(path), options.format);
    first.find_header();
    first.cursor.count_fields();
    infer_column_types(first.cursor, header);
  }
  if (options.with_offsets != nullptr) take_offsets(*options.with_offsets, header);
  return read_table(source, std::move(header), options.targets, options.max_categories);
}

Table read_csv_as(const std::filesystem::path& path, const TrainedColumns& trained,
                  const CsvFormat& format) {
  CsvSource source(DataFile(path), format);
  const std::string location = source.find_header();
  CsvHeader header = make_trained_header(location, read_names(source.cursor, location), trained,
                                         source.cursor.format().delimiter);
  return read_table(source, std::move(header), trained.targets, 0);
}

}  // namespace trainer::data
