// SPDX-License-Identifier: Apache-2.0
#include "apply/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/print_safely.h"

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

}  // namespace trainer::apply
