// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/data/table.h"

namespace trainer::data {

struct CsvOptions {
  std::string target;                // column to predict; must be in the header
  std::vector<std::string> ignored;  // columns left out; each must be in the header
  char delimiter = ',';
};

/// The delimiter that `choice` means for `path`. kAuto is a tab for names that end in .tsv or .tab
/// and a comma for all others; it never looks into the file.
char csv_delimiter(config::Delimiter choice, const std::filesystem::path& path);

/// Reads a CSV file with a header (RFC 4180: quoted fields with delimiters, doubled quotes and
/// line breaks inside; LF, CRLF or CR; an UTF-8 byte-order mark is skipped). Blank lines are
/// skipped, and so are spaces around a field outside of quotes. Every column but the target and the
/// ignored ones is a feature and must be numeric in every row; a feature is read as double and
/// stored as float32. Missing values are empty fields and NA, NaN, null and ? in any capitals.
/// Throws Error(kData) with `file:line: column "name": ...`: missing or unreadable file, a folder,
/// an empty file, no data rows, a NUL byte, only one column, duplicate or empty column names,
/// unknown target or ignored column (with the nearest name), an ignored target, no feature left, a
/// row with another number of fields, an unclosed quote, text after a quote, and text, a missing or
/// a non-finite value in a feature, a missing target. The line is where the row begins.
Table read_csv(const std::filesystem::path& path, const CsvOptions& options);

}  // namespace trainer::data
