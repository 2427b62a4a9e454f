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

#include "apply/gzip_writer.h"
#include "apply/parquet_writer.h"

namespace trainer::apply {

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
