// SPDX-License-Identifier: Apache-2.0
#include "table/source/input_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/checksum.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/parse.h"

#include "table/error.h"

namespace trainer::data {

namespace {

void require_file(const std::filesystem::path& path, InputFile::Kind kind) {
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw data_error(path.string(), "no such file");
  }
  if (problem) throw data_error(path.string(), "cannot be read: " + problem.message());
  if (std::filesystem::is_directory(status)) {
    throw data_error(path.string(), "is a folder, expected a file");
  }
  // A pipe could be read only once, and a device might never end.
  if (kind == InputFile::Kind::kRegular && !std::filesystem::is_regular_file(status)) {
    throw data_error(path.string(), "is not a regular file");
  }
}

// NFS and FUSE interrupt calls; so does a signal that asks to stop, and then nobody waits on.
bool is_to_be_repeated(int code) { return code == EINTR && stop_request() == 0; }

}  // namespace

InputFile::InputFile(const std::filesystem::path& path, Kind kind)
    : path_(path), name_(path.string()), kind_(kind) {
  if (kind != Kind::kRegular && path == "-") {
    name_ = "standard input";
    file_.reset(stdin);
  } else {
    require_file(path, kind);
    std::FILE* file = nullptr;
    do {
      file = std::fopen(path.c_str(), "rb");
    } while (file == nullptr && is_to_be_repeated(errno));
    file_.reset(file);
  }
  if (!file_) throw data_error(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // all reads are large
  fingerprint_.path = std::filesystem::absolute(path).lexically_normal().string();
}

size_t InputFile::read_arrived(std::span<std::byte> buffer) const {
  ssize_t count = -1;
  do {
    count = ::read(fileno(file_.get()), buffer.data(), buffer.size());
  } while (count < 0 && is_to_be_repeated(errno));
  if (count < 0) throw data_error(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
  return static_cast<size_t>(count);
}

size_t InputFile::read(std::span<std::byte> buffer) {
  if (is_followed()) return read_arrived(buffer);
  size_t count = std::fread(buffer.data(), 1, buffer.size(), file_.get());
  while (count < buffer.size() && std::ferror(file_.get()) != 0) {
    if (!is_to_be_repeated(errno)) {
      throw data_error(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    std::clearerr(file_.get());
    count += std::fread(buffer.data() + count, 1, buffer.size() - count, file_.get());
  }
  fingerprint_.num_bytes += count;
  if (kind_ == Kind::kRegular) fingerprint_.crc32 = crc32(buffer.first(count), fingerprint_.crc32);
  return count;
}

uint64_t InputFile::size_hint() const {
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path_, unknown);
  return unknown ? 0 : static_cast<uint64_t>(size);
}

Fingerprint InputFile::fingerprint() {
  std::vector<std::byte> buffer(size_t{1} << 18);
  while (read(buffer) > 0) {
  }
  return fingerprint_;
}

namespace {

struct FileKind {
  std::string_view begin;
  std::string_view what;
  std::string_view fix;
};

constexpr std::string_view kSaveAsCsv =
    "save the sheet as CSV (in Excel: File, Save As, CSV UTF-8)";
constexpr std::string_view kUnpack = "unpack it first, or pack the table with gzip or zstd";
constexpr std::string_view kToParquet =
    "write the table as Parquet, in Python with pandas: DataFrame.to_parquet";

// https://en.wikipedia.org/wiki/List_of_file_signatures
constexpr std::array kOtherKinds = {
    FileKind{"PK\x03\x04", "a ZIP archive, as workbooks of Excel (.xlsx) are",
             "save a sheet as CSV (in Excel: File, Save As, CSV UTF-8), or unpack the archive"},
    FileKind{"PK\x05\x06", "an empty ZIP archive", "download or copy it again"},
    FileKind{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "a workbook of Excel (.xls)", kSaveAsCsv},
    FileKind{"BZh91AY&SY", "packed with bzip2", kUnpack},
    FileKind{"\xFD\x37zXZ", "packed with xz", kUnpack},
    FileKind{"7z\xBC\xAF\x27\x1C", "a 7-Zip archive", kUnpack},
    FileKind{"Rar!\x1A\x07", "a RAR archive", kUnpack},
    FileKind{"\x04\x22\x4D\x18", "packed with LZ4", kUnpack},
    FileKind{"\x1F\x9D", "packed with compress", kUnpack},
    FileKind{"version https://", "a pointer of Git LFS, not the file itself",
             "fetch the file with: git lfs pull"},
    FileKind{"ARROW1", "an Arrow file",
             "write the table as Parquet, in Python with "
             "pandas.read_feather(...).to_parquet(...)"},
    FileKind{"\x89HDF\r\n", "an HDF5 file", kToParquet},
    FileKind{"Obj\x01", "an Avro file", kToParquet},
    FileKind{"PAR1", "a Parquet file", "give it a name that ends in .parquet"},
    FileKind{"\x93NUMPY", "an array of NumPy", "set data.source: npy, with data.npy.features"},
    FileKind{"\x80\x04\x95", "a pickle of Python", kToParquet},
    FileKind{"\x80\x05\x95", "a pickle of Python", kToParquet},
    FileKind{"%PDF-", "a PDF document", "save the table as CSV"},
    FileKind{"<!doctype html", "a page of the web (HTML), not a table",
             "download the file itself, not the page that shows it"},
    FileKind{"<html", "a page of the web (HTML), not a table",
             "download the file itself, not the page that shows it"},
    FileKind{"<?xml", "an XML document", "save the table as CSV"},
};

}  // namespace

void require_no_other_kind(const std::string& name, std::span<const std::byte> first) {
  std::string begin;
  for (const std::byte byte : first.first(std::min(first.size(), kKindBytes))) {
    begin += static_cast<char>(byte);
  }
  if (begin.starts_with("\xEF\xBB\xBF")) begin.erase(0, 3);
  begin.erase(0, begin.find_first_not_of(" \t\r\n"));
  if (begin.starts_with("BZh") && begin.size() > 3) begin[3] = '9';  // any size of its blocks
  const std::string small = lower_case(begin);
  for (const FileKind& kind : kOtherKinds) {
    if (!(kind.begin.front() == '<' ? small : begin).starts_with(kind.begin)) continue;
    throw data_error(name, fmt::format("this is {}; {}", kind.what, kind.fix));
  }
}

void require_no_other_kind(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kKindBytes> first{};
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  const auto num_read = static_cast<size_t>(file.gcount());
  if (std::string_view(first.data(), num_read).starts_with("PAR1")) return;
  require_no_other_kind(path.string(), std::as_bytes(std::span(first).first(num_read)));
}

}  // namespace trainer::data
