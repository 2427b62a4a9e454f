// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/base/io/atomic_file.h"

struct z_stream_s;

namespace trainer::apply {

/// Compresses text that arrives in pieces to the content of a gzip file; the same text gives the
/// same bytes. Returned bytes are valid until the next call.
class GzipWriter {
 public:
  GzipWriter();

  std::string_view pack(std::string_view text);
  /// Returns the last bytes of the file. Must be the last call.
  std::string_view finish();

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  std::string_view take(std::string_view text, int flush);

  std::unique_ptr<z_stream_s, End> stream_;
  std::string packed_;
};

/// The name of a column of a Parquet file, and its type in DuckDB's SQL.
struct ParquetColumn {
  std::string name;
  std::string type;
};

/// Writes a Parquet file from CSV text. The text is collected in a temporary file beside it, so
/// that the memory does not depend on the number of rows.
class ParquetWriter {
 public:
  ParquetWriter(const std::filesystem::path& path, std::vector<ParquetColumn> columns);

  /// Appends lines of CSV with commas; the very first line has the names. An empty cell is a null.
  void write(std::string_view lines) { lines_.write(lines); }

  /// Converts the text to the Parquet file and moves it into place. Must be the last call; throws
  /// Error.
  void finish();

 private:
  std::string name_;
  std::vector<ParquetColumn> columns_;
  AtomicFile lines_;  // temporary, never committed; has the path of file_ so that messages name it
  AtomicFile file_;
};

/// The destination of the result of a command: a file that appears complete or not at all; or a
/// pipe, a device or the standard output ("-"), which get the text as it is written. A name that
/// ends in ".gz" means gzip, and ".parquet" a Parquet file. Throws Error(kFileSystem), and
/// Error(kUsage) for Parquet without DuckDB, which writes it.
class Output {
 public:
  /// For a Parquet file, `columns` are the names and types of the columns of the text, which is CSV
  /// with commas.
  explicit Output(const std::filesystem::path& path, std::vector<ParquetColumn> columns = {});

  void write(std::string_view text);
  void finish();

 private:
  struct Closer {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };
  [[noreturn]] void fail() const;
  void put(std::string_view bytes);

  std::string name_;
  bool is_on_terminal_ = false;
  std::optional<GzipWriter> packer_;
  std::optional<AtomicFile> file_;
  std::optional<ParquetWriter> parquet_;
  std::unique_ptr<std::FILE, Closer> stream_;
};

/// Whether an output at this path is a Parquet file.
bool is_parquet(const std::filesystem::path& path);

}  // namespace trainer::apply
