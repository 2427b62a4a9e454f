// SPDX-License-Identifier: Apache-2.0
#include "data/csv_source.h"

#include <utility>

#include <fmt/format.h>

#include "trainer/core/format.h"

#include "data/error.h"

namespace trainer::data {

CsvSource::CsvSource(DataFile from, const CsvFormat& format)
    : file(std::move(from)), text(file), cursor(file.name(), text, format) {}

std::string CsvSource::find_header() {
  if (!cursor.begin_row()) throw data_error(file.name(), "the file is empty");
  return fmt::format("{}:{}", file.name(), cursor.row_line());
}

void require_rows(const Table& table) {
  if (!table.lines.empty()) return;
  throw data_error(table.file, table.num_without_target == 0
                                   ? std::string("no data rows after the header")
                                   : fmt::format("none of the {} rows has a target",
                                                 with_thousands(table.num_without_target)));
}

}  // namespace trainer::data
