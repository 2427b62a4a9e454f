// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/data/csv_format.h"
#include "trainer/data/data_file.h"
#include "trainer/data/table.h"

#include "data/csv_cursor.h"
#include "data/csv_text.h"

namespace trainer::data {

/// A CSV file and the walk over it.
struct CsvSource {
  CsvSource(DataFile from, const CsvFormat& format);
  ~CsvSource() = default;
  CsvSource(const CsvSource&) = delete;  // its parts refer to each other
  CsvSource& operator=(const CsvSource&) = delete;
  CsvSource(CsvSource&&) = delete;
  CsvSource& operator=(CsvSource&&) = delete;

  /// Goes to the header and returns its location, "file:line". Throws Error(kData) for an empty
  /// file.
  std::string find_header();

  DataFile file;
  CsvText text;
  CsvCursor cursor;
};

/// Throws Error(kData) when `table` has got no rows.
void require_rows(const Table& table);

}  // namespace trainer::data
