// SPDX-License-Identifier: Apache-2.0
#include "apply/output.h"

#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/table/duckdb/query.h"

namespace trainer::apply {
namespace fs = std::filesystem;

bool is_parquet(const fs::path& path) {
  return lower_case(path.extension().string()) == ".parquet";
}

Output::Output(const fs::path& path, std::vector<ParquetColumn> columns)
    : name_(path == "-" ? "standard output" : path.string()) {
  if (path == "-") {
    stream_.reset(stdout);
    is_on_terminal_ = isatty(STDOUT_FILENO) == 1;
    return;
  }
  if (lower_case(path.extension().string()) == ".gz") packer_.emplace();
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("cannot write {}: it is a folder; give the name of a file", name_));
  }
  if (!fs::exists(status) || fs::is_regular_file(status)) {
    // A symbolic link stays one: the file that it points to is replaced.
    const fs::path real = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path;
    if (is_parquet(path)) {
      parquet_.emplace(error ? path : real, std::move(columns));
    } else {
      file_.emplace(error ? path : real);
    }
    return;
  }
  stream_.reset(std::fopen(path.c_str(), "wb"));
  if (stream_ == nullptr) fail();
}

void Output::fail() const {
  throw Error(ErrorKind::kFileSystem,
              fmt::format("cannot write {}: {}", name_, std::strerror(errno)));
}

void Output::write(std::string_view text) {
  if (packer_) return put(packer_->pack(text));
  if (is_on_terminal_) return print_safely(text);
  put(text);
}

void Output::put(std::string_view bytes) {
  if (parquet_) {
    parquet_->write(bytes);
  } else if (file_) {
    file_->write(bytes);
  } else if (std::fwrite(bytes.data(), 1, bytes.size(), stream_.get()) != bytes.size()) {
    fail();
  }
}

void Output::finish() {
  if (packer_) put(packer_->finish());
  if (parquet_) {
    parquet_->finish();
  } else if (file_) {
    file_->commit();
  } else if (std::fflush(stream_.get()) != 0) {
    fail();
  }
}

void GzipWriter::End::operator()(z_stream_s* stream) const {
  deflateEnd(stream);
  delete stream;
}

GzipWriter::GzipWriter() : stream_(new z_stream()) {
  constexpr int kGzipHeader = 16;
  constexpr int kMemoryLevel = 8;  // zlib's default
  if (deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipHeader,
                   kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();  // with these arguments it can fail for no other reason
  }
}

std::string_view GzipWriter::pack(std::string_view text) { return take(text, Z_NO_FLUSH); }

std::string_view GzipWriter::finish() { return take({}, Z_FINISH); }

std::string_view GzipWriter::take(std::string_view text, int flush) {
  std::array<char, 1 << 16> piece{};
  packed_.clear();
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT: only read
  stream_->avail_in = static_cast<uInt>(text.size());
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_->avail_out = static_cast<uInt>(piece.size());
    deflate(stream_.get(), flush);
    packed_.append(piece.data(), piece.size() - stream_->avail_out);
  } while (stream_->avail_out == 0);
  return packed_;
}

ParquetWriter::ParquetWriter(const std::filesystem::path& path, std::vector<ParquetColumn> columns)
    : name_(path.string()), columns_(std::move(columns)), lines_(path), file_(path) {}

void ParquetWriter::finish() {
  std::string texts;
  std::string values;
  for (const ParquetColumn& column : columns_) {
    const char* comma = texts.empty() ? "" : ", ";
    texts += fmt::format("{}{}: 'VARCHAR'", comma, duckdb::quoted_text(column.name));
    const std::string name = duckdb::quoted_name(column.name);
    values += fmt::format("{}CAST({} AS {}) AS {}", comma, name, column.type, name);
  }
  try {
    duckdb::execute(
        {.name = "cannot write " + name_,
         .sql = fmt::format(
             "COPY (SELECT {} FROM read_csv({}, auto_detect = false, header = true, delim = ',', "
             "quote = '\"', escape = '\"', nullstr = '', columns = {{{}}})) TO {} (FORMAT parquet, "
             "COMPRESSION zstd, USE_TMP_FILE false)",
             values, duckdb::quoted_text(lines_.flushed().string()), texts,
             duckdb::quoted_text(file_.flushed().string())),
         .is_of_user = false});
  } catch (const Error& error) {
    // The rows come from this program, so an error of DuckDB is about the file and not the data.
    if (error.kind() != ErrorKind::kData) throw;
    throw Error(ErrorKind::kFileSystem, error.what());
  }
  file_.commit();
}

}  // namespace trainer::apply
