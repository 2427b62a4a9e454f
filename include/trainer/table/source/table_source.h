// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainer/table/source/csv_format.h"

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// Where a table is read from.
struct TableSource {
  /// Of a file; of a folder with tables; or a pattern with *, ? and []. "-": the standard input.
  std::string path;
  CsvFormat format = {};          // of CSV text
  std::string query = {};         // a SELECT, in place of a path
  std::string folder = {};        // where relative paths in it start; empty: the working directory
  bool reads_only_named = false;  // of files: those that the query names in quotes
};

/// The table that data.path or data.query names.
TableSource training_source(const config::DataConfig& data);

/// Another file, read as that one.
TableSource file_source(const config::DataConfig& data, const std::filesystem::path& path);

/// The files of `path`, in the order of their names: that file; or all that a pattern with *, ? and
/// [] fits; or all tables of a folder, without hidden files. Throws Error(kData) where there are
/// none, or files of several kinds.
std::vector<std::string> source_files(const std::string& path);

/// A line that counts and names the files of a folder or a pattern, and one that names what else is
/// in the folder. Nothing for a file. Throws as source_files().
std::vector<std::string> describe_files(const std::string& path);

/// Whether rows of the data are told by the line on which they begin, else by their number: those
/// of one file of text that is there.
bool has_lines(const config::DataConfig& data);

/// What messages call it: its path, "standard input" or "the query".
std::string source_name(const TableSource& source);

/// Whether DuckDB reads it, not our own reader of CSV text.
bool is_read_by_duckdb(const TableSource& source);

/// Whether its path is that of one file, or a stream, of CSV text.
bool is_one_text(const TableSource& source);

}  // namespace trainer::data

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// How large a table is, before it is read.
struct TableSize {
  uint64_t file_bytes = 0;     // of its files, packed or not
  int64_t num_rows = 0;        // of Parquet exactly, of CSV text about; 0: not known
  int64_t num_features = 0;    // at least: each categorical column counts as one
  uint64_t encoded_bytes = 0;  // as a Dataset, at least
};

/// The size of the files of data.path. Quick, as only their beginning is looked at.
/// Throws Error(kData) for files that are not there.
uint64_t file_bytes(const config::DataConfig& data);

/// The size of the table of data.path, from its header and first rows. Throws Error(kData) as
/// read_table() does for these.
TableSize table_size(const config::DataConfig& data);

}  // namespace trainer::data
